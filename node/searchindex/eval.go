package searchindex

import (
	"math/bits"
	"slices"

	"github.com/trireme-dev/trireme/fsm/env"
)

// node is a condition of a filter.
type node interface {
	// eval finds the documents that match, with their scores.
	eval(s *searcher) matches
}

// searcher evaluates a filter on an index, whose lock is held.
type searcher struct {
	*budget
	x      *index
	scored bool
	now    env.Time
}

// matches are documents in the order of their numbers, with a score for each, or one for all.
type matches struct {
	docs   []uint32
	scores []float64
	score  float64 // of all, if scores is nil
}

func (m *matches) at(i int) float64 {
	if m.scores == nil {
		return m.score
	}
	return m.scores[i]
}

// constant are documents that match in a way that has no degrees.
func (s *searcher) constant(hits set) matches {
	m := matches{score: 1}
	for i, w := range hits {
		for ; w != 0; w &= w - 1 {
			m.docs = append(m.docs, uint32(64*i+bits.TrailingZeros64(w)))
		}
	}
	return m
}

// all is every document.
type all struct{}

func (all) eval(s *searcher) matches {
	m := matches{score: 1, docs: make([]uint32, 0, s.x.live())}
	for n, name := range s.x.names {
		if name != "" {
			m.docs = append(m.docs, uint32(n))
		}
	}
	return m
}

// boost multiplies the score of a condition.
type boost struct {
	node
	by float64
}

func boosted(n node, by float64) node {
	if by == 1 {
		return n
	}
	return &boost{n, by}
}

func (b *boost) eval(s *searcher) matches {
	m := s.eval(b.node)
	m.score *= b.by
	for i := range m.scores {
		m.scores[i] *= b.by
	}
	return m
}

// boolean joins conditions.
type boolean struct {
	must, should, mustNot []node
}

// require adds a condition that must match. One that only leaves documents out does that to the others.
func (b *boolean) require(n node) {
	if o, ok := n.(*boolean); ok && len(o.must) == 0 && len(o.should) == 0 && len(o.mustNot) > 0 {
		b.mustNot = append(b.mustNot, o.mustNot...)
		return
	}
	b.must = append(b.must, n)
}

// plain is the only condition itself, if there is one.
func (b *boolean) plain() node {
	if len(b.must) == 1 && len(b.should) == 0 && len(b.mustNot) == 0 {
		return b.must[0]
	}
	return b
}

func (b *boolean) eval(s *searcher) (m matches) {
	add := either
	if len(b.must) > 0 {
		add, m = lifted, s.eval(b.must[0])
		for _, n := range b.must[1:] {
			if len(m.docs) == 0 {
				return m
			}
			m = s.joined(both, m, s.eval(n))
		}
	}
	if len(b.must) == 0 || s.scored && len(m.docs) > 0 {
		for _, n := range b.should {
			m = s.joined(add, m, s.eval(n))
		}
	}
	for _, n := range b.mustNot {
		if len(m.docs) == 0 {
			break
		}
		m = s.joined(without, m, s.eval(n))
	}
	return m
}

// joined joins what two conditions have found. The first are paid for with each condition that is added to them.
func (s *searcher) joined(how func(a, b matches) matches, a, b matches) matches {
	if !s.spend(int64(len(a.docs)) / docsPerStep) {
		return matches{}
	}
	return how(a, b)
}

// both are the documents of a that are in b too.
func both(a, b matches) (m matches) {
	i, j := 0, 0
	constant := a.scores == nil && b.scores == nil
	m.score = a.score + b.score
	for i < len(a.docs) && j < len(b.docs) {
		switch {
		case a.docs[i] < b.docs[j]:
			i = gallop(a.docs, i, b.docs[j])
		case a.docs[i] > b.docs[j]:
			j = gallop(b.docs, j, a.docs[i])
		default:
			m.docs = append(m.docs, a.docs[i])
			if !constant {
				m.scores = append(m.scores, a.at(i)+b.at(j))
			}
			i, j = i+1, j+1
		}
	}
	return m
}

// gallop is the first place from i on with a document that is not below doc.
func gallop(docs []uint32, i int, doc uint32) int {
	if i == len(docs) || docs[i] >= doc {
		return i
	}
	step := 1
	for i+step < len(docs) && docs[i+step] < doc {
		i += step
		step *= 2
	}
	n, _ := slices.BinarySearch(docs[i:min(len(docs), i+step+1)], doc)
	return i + n
}

// either are the documents of both.
func either(a, b matches) (m matches) {
	if len(a.docs) == 0 {
		return b
	}
	if len(b.docs) == 0 {
		return a
	}
	m.docs = make([]uint32, 0, max(len(a.docs), len(b.docs)))
	m.scores = make([]float64, 0, max(len(a.docs), len(b.docs)))
	i, j := 0, 0
	for i < len(a.docs) || j < len(b.docs) {
		switch {
		case j == len(b.docs) || i < len(a.docs) && a.docs[i] < b.docs[j]:
			m.docs, m.scores = append(m.docs, a.docs[i]), append(m.scores, a.at(i))
			i++
		case i == len(a.docs) || a.docs[i] > b.docs[j]:
			m.docs, m.scores = append(m.docs, b.docs[j]), append(m.scores, b.at(j))
			j++
		default:
			m.docs, m.scores = append(m.docs, a.docs[i]), append(m.scores, a.at(i)+b.at(j))
			i, j = i+1, j+1
		}
	}
	return m
}

// lifted are the documents of a, with the scores of b added where it has them.
func lifted(a, b matches) matches {
	if len(b.docs) == 0 {
		return a
	}
	m := matches{docs: a.docs, scores: make([]float64, len(a.docs))}
	j := 0
	for i, doc := range a.docs {
		m.scores[i] = a.at(i)
		if j = gallop(b.docs, j, doc); j < len(b.docs) && b.docs[j] == doc {
			m.scores[i] += b.at(j)
		}
	}
	return m
}

// without are the documents of a that are not in b.
func without(a, b matches) (m matches) {
	m.score = a.score
	j := 0
	for i, doc := range a.docs {
		if j = gallop(b.docs, j, doc); j < len(b.docs) && b.docs[j] == doc {
			continue
		}
		m.docs = append(m.docs, doc)
		if a.scores != nil {
			m.scores = append(m.scores, a.scores[i])
		}
	}
	return m
}
