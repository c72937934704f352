package vector

import (
	"cmp"
	"slices"
	"strings"
)

// Hit is a vector that a search has found.
type Hit struct {
	ID    string
	Score float64 // from 0 to 1, the nearest first
	near  float32
}

// Search collects the nearest of the vectors that it is shown.
type Search struct {
	metric Metric
	q      Vector
	most   int
	heap   []Hit // the farthest first
}

// NewSearch looks for the most vectors nearest to q.
func NewSearch(m Metric, q Vector, most int) *Search { return &Search{metric: m, q: q, most: most} }

// farther orders hits for the heap; of equally near ones the one of the greater id goes.
func farther(a, b *Hit) bool {
	if a.near != b.near {
		return a.near < b.near
	}
	return a.ID > b.ID
}

// See takes a vector of the dimension of q into account.
func (s *Search) See(id string, v Vector) {
	h := Hit{ID: id, near: s.metric.nearness(s.q, v)}
	if len(s.heap) < s.most {
		s.heap = append(s.heap, h)
		s.up(len(s.heap) - 1)
		return
	}
	if !farther(&s.heap[0], &h) {
		return
	}
	s.heap[0] = h
	s.down()
}

func (s *Search) up(i int) {
	for i > 0 {
		above := (i - 1) / 2
		if !farther(&s.heap[i], &s.heap[above]) {
			return
		}
		s.heap[i], s.heap[above] = s.heap[above], s.heap[i]
		i = above
	}
}

func (s *Search) down() {
	for i := 0; ; {
		next := 2*i + 1
		if next >= len(s.heap) {
			return
		}
		if next+1 < len(s.heap) && farther(&s.heap[next+1], &s.heap[next]) {
			next++
		}
		if !farther(&s.heap[next], &s.heap[i]) {
			return
		}
		s.heap[i], s.heap[next] = s.heap[next], s.heap[i]
		i = next
	}
}

// Hits are the nearest, the best first; equal scores are in the order of ids.
func (s *Search) Hits() []Hit {
	hits := s.heap
	for i := range hits {
		hits[i].Score = s.metric.score(s.q, hits[i].near)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return hits
}
