package queue

import (
	"container/heap"
	"slices"
	"strings"
)

// addEndpoints adds endpoints to those of a group, one after the other: each takes the place of the first one that has its
// URL or its name, and goes to the end if there is none. It takes time in proportion to both lists, not to their product.
func addEndpoints(list, add []Endpoint) []Endpoint {
	urls, named := make(positions, len(add)), make(positions, len(add))
	for _, end := range add {
		urls[end.URL] = nil
		if end.Name != "" {
			named[end.Name] = nil
		}
	}
	for i, o := range list {
		urls.note(o.URL, i)
		named.note(o.Name, i)
	}
	for _, end := range add {
		i := urls.first(end.URL, func(i int) bool { return list[i].URL == end.URL })
		if end.Name != "" {
			if k := named.first(end.Name, func(i int) bool { return list[i].Name == end.Name }); k >= 0 && (i < 0 || k < i) {
				i = k
			}
		}
		end = Endpoint{strings.Clone(end.Name), strings.Clone(end.URL)}
		if i >= 0 {
			list[i] = end
		} else {
			i, list = len(list), append(list, end)
		}
		urls.note(end.URL, i)
		named.note(end.Name, i)
	}
	return list
}

// removeEndpoints removes those that have the URL or the name of one of some.
func removeEndpoints(list, gone []Endpoint) []Endpoint {
	urls, named := make(map[string]bool, len(gone)), make(map[string]bool, len(gone))
	for _, end := range gone {
		urls[end.URL], named[end.Name] = end.URL != "", end.Name != ""
	}
	return slices.DeleteFunc(list, func(o Endpoint) bool { return urls[o.URL] || named[o.Name] })
}

// positions maps some URLs, or some names, to the positions that their endpoints have or had in a list: the first on top.
type positions map[string]*minHeap

func (p positions) note(key string, i int) {
	at, wanted := p[key]
	if !wanted {
		return
	}
	if at == nil {
		at = &minHeap{}
		p[key] = at
	}
	heap.Push(at, i)
}

// first is the first place of a key at which an endpoint still is, -1 if there is none.
func (p positions) first(key string, still func(int) bool) int {
	at := p[key]
	for at != nil && len(*at) > 0 {
		if i := (*at)[0]; still(i) {
			return i
		}
		heap.Pop(at)
	}
	return -1
}

// minHeap is a heap of numbers, the least on top.
type minHeap []int

func (h minHeap) Len() int           { return len(h) }
func (h minHeap) Less(i, k int) bool { return h[i] < h[k] }
func (h minHeap) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }

// Push implements heap.Interface.
func (h *minHeap) Push(v any) { *h = append(*h, v.(int)) }

// Pop implements heap.Interface.
func (h *minHeap) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}
