package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// NamePage says which part of a list to give that is in the order of names.
type NamePage struct {
	// After is the name behind which the page begins; empty to begin.
	After string
	// Limit is the most elements, at least 1.
	Limit int
}

// NameList is a page of a list in the order of names.
type NameList[E any] struct {
	Elements []E
	// Last is the name up to which the page goes. More says that there are others behind it, or that there may be: one page looks at
	// MaxScan records at most.
	Last string
	More bool
}

// pageByName collects a page of a tree. element returns the element of a name, or that there is none to give, and how many records it
// has looked at for it.
func pageByName[V, E any](t *cow.BTree[string, V], p NamePage, element func(name string, v V) (e E, looked int, ok bool)) (list NameList[E]) {
	looked := 0
	t.Ascend(p.After, func(name string, v V) bool {
		if name == p.After && name != "" {
			return true
		}
		if len(list.Elements) == p.Limit || looked >= MaxScan {
			list.More = true
			return false
		}
		e, n, ok := element(name, v)
		looked, list.Last = looked+n, name
		if ok {
			list.Elements = append(list.Elements, e)
		}
		return true
	})
	return list
}

// Queues lists queues by name.
func (s *Store) Queues(p NamePage) NameList[QueueInfo] {
	return pageByName(s.queues.byName, p, func(_ string, no uint64) (QueueInfo, int, bool) {
		q, _ := s.queues.byNo.Get(no)
		return s.queueInfo(q), 1 + count(s.places.slots, no), true
	})
}

// FlowControlKeys lists the flow-control keys whose name contains search, by name.
func (s *Store) FlowControlKeys(search string, now int64, p NamePage) NameList[FlowControlInfo] {
	return pageByName(s.flows.byName, p, func(key string, no uint64) (n FlowControlInfo, looked int, ok bool) {
		if !strings.Contains(key, search) {
			return n, 1, false
		}
		return s.flowControlInfo(s.flows.get(no), now), 1, true
	})
}

// Groups lists URL groups by name.
func (s *Store) Groups(p NamePage) NameList[Group] {
	return pageByName(s.groups.byName, p, func(_ string, g *Group) (Group, int, bool) { return *g, 1 + len(g.Endpoints), true })
}

// Schedules lists schedules by id.
func (s *Store) Schedules(p NamePage) NameList[Schedule] {
	return pageByName(s.schedules.byID, p, func(_ string, c *Schedule) (Schedule, int, bool) { return *c, 1, true })
}
