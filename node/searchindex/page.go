package searchindex

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/search"
)

// page collects the best documents of a result: a heap with the worst of those kept at its root.
type page struct {
	x          *index
	by         *field // what documents are sorted by; nil: their score
	descending bool
	want       int // documents kept
	heap       []found
}

// before reports whether a comes before b.
func (p *page) before(a, b *found) bool {
	if p.by != nil {
		switch {
		case a.has != b.has:
			return a.has
		case a.key != b.key:
			return (a.key < b.key) != p.descending
		case a.text != b.text:
			return (a.text < b.text) != p.descending
		}
	} else if a.score != b.score {
		return a.score > b.score
	}
	return p.x.names[a.doc] < p.x.names[b.doc]
}

// add keeps a document if it is among the best so far.
func (p *page) add(d found) {
	switch {
	case len(p.heap) < p.want:
		p.heap = append(p.heap, d)
		p.up(len(p.heap) - 1)
	case p.before(&d, &p.heap[0]):
		p.heap[0] = d
		p.down(0)
	}
}

// up moves a document towards the root until its parent is worse.
func (p *page) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !p.before(&p.heap[parent], &p.heap[i]) {
			return
		}
		p.heap[parent], p.heap[i] = p.heap[i], p.heap[parent]
		i = parent
	}
}

// down moves a document away from the root until those below are better.
func (p *page) down(i int) {
	for {
		worst := i
		for _, kid := range []int{2*i + 1, 2*i + 2} {
			if kid < len(p.heap) && p.before(&p.heap[worst], &p.heap[kid]) {
				worst = kid
			}
		}
		if worst == i {
			return
		}
		p.heap[i], p.heap[worst] = p.heap[worst], p.heap[i]
		i = worst
	}
}

// sorted returns the documents from the best on.
func (p *page) sorted() []found {
	slices.SortFunc(p.heap, func(a, b found) int {
		if p.before(&a, &b) {
			return -1
		}
		return 1
	})
	return p.heap
}

// best are the documents of a page, in order.
func (s *searcher) best(m matches, by *field, q *search.Query, score func(uint32, float64) float64) []found {
	want := q.Offset + q.Limit
	p := &page{x: s.x, by: by, descending: q.Descending, want: want, heap: make([]found, 0, min(want, len(m.docs)))}
	if want == 0 {
		return nil
	}
	for i, doc := range m.docs {
		d := found{doc: doc}
		if by != nil {
			if !s.spend(by.valuesOf(doc) / docsPerStep) {
				return nil
			}
			by.sortKey(&d, q.Descending)
		} else if d.score = m.at(i); score != nil {
			d.score = score(doc, d.score)
		}
		p.add(d)
	}
	list := p.sorted()
	return list[min(q.Offset, len(list)):]
}
