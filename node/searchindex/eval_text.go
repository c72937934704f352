package searchindex

import (
	"math"
	"regexp"
	"strings"

	"github.com/trireme-dev/trireme/fsm/search"
)

// The parameters of BM25.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// idf is the weight of a term that n documents have.
func (s *searcher) idf(n int) float64 {
	all := float64(s.x.live())
	return math.Log(1 + (all-float64(n)+0.5)/(float64(n)+0.5))
}

// bm25 is the score of a document that has something freq times.
func (s *searcher) bm25(f *field, idf float64, doc uint32, freq float64) float64 {
	average := float64(f.total) / float64(max(1, s.x.live()))
	norm := bm25K1 * (1 - bm25B + bm25B*float64(f.lengths[doc])/average)
	return idf * freq * (bm25K1 + 1) / (freq + norm)
}

// word is a term: a token of a TEXT, or a whole value.
type word struct {
	f    *field
	text string
}

func (w *word) eval(s *searcher) (m matches) {
	t, ok := w.f.terms.Get(w.text)
	if !ok || !s.spend(int64(t.n)/docsPerStep) {
		return m
	}
	m.score = 1
	m.docs = make([]uint32, 0, t.n)
	if !s.scored || w.f.Type != search.Text {
		t.each(func(doc uint32, _ uint16) { m.docs = append(m.docs, doc) })
		return m
	}
	m.scores = make([]float64, 0, t.n)
	idf := s.idf(t.n)
	t.each(func(doc uint32, freq uint16) {
		m.docs, m.scores = append(m.docs, doc), append(m.scores, s.bm25(w.f, idf, doc, float64(freq)))
	})
	return m
}

// near are the documents with a term that is near a word.
type near struct {
	f *field
	z fuzzy
}

func (n *near) eval(s *searcher) matches {
	hits := newSet(len(s.x.names))
	if n.z.distance == 0 && n.z.prefix {
		s.beginning(n.f, string(n.z.word), func(t *term) { hits.putAll(&t.postings) })
		return s.constant(hits)
	}
	n.z.walk(n.f.terms, s.spend, func(t *term) {
		if s.spend(int64(t.n) / docsPerStep) {
			hits.putAll(&t.postings)
		}
	})
	return s.constant(hits)
}

// beginning calls fn for the terms that begin with start, as far as there is work left to look at their documents.
func (s *searcher) beginning(f *field, start string, fn func(t *term)) {
	f.terms.Ascend(start, func(text string, t *term) bool {
		if !strings.HasPrefix(text, start) || !s.spend(1+int64(t.n)/docsPerStep) {
			return false
		}
		fn(t)
		return true
	})
}

// pattern are the documents with a term that matches a regular expression.
type pattern struct {
	f    *field
	re   *regexp.Regexp
	size int // of its program
}

func (p *pattern) eval(s *searcher) matches {
	hits := newSet(len(s.x.names))
	p.f.terms.All(func(text string, t *term) bool {
		if !s.spend(matchWork(p.size, text)) {
			return false
		}
		if p.re.MatchString(text) && s.spend(int64(t.n)/docsPerStep) {
			hits.putAll(&t.postings)
		}
		return true
	})
	return s.constant(hits)
}

// phrase are the documents with terms one after the other. With slop they may be moved so many places in all; with prefix
// the last one is a beginning.
type phrase struct {
	f      *field
	terms  []string
	slop   int
	prefix bool
}

func (p *phrase) eval(s *searcher) (m matches) {
	wanted := make([]map[uint32]bool, len(p.terms))
	idf := 0.0
	var docs []uint32
	for i := range p.terms {
		var mine []uint32
		wanted[i], mine = p.place(s, i)
		if len(mine) > 0 {
			idf += s.idf(len(mine))
		}
		if i > 0 {
			mine = both(matches{docs: docs}, matches{docs: mine}).docs
		}
		if docs = mine; len(docs) == 0 {
			return matches{}
		}
	}
	m.score = 1
	for _, doc := range docs {
		if !s.spend(1 + int64(len(p.f.streams[doc]))*int64(len(wanted))/cellsPerStep) {
			return matches{}
		}
		if n := p.times(p.f.streams[doc], wanted); n > 0 {
			m.docs = append(m.docs, doc)
			if s.scored {
				m.scores = append(m.scores, s.bm25(p.f, idf, doc, float64(n)))
			}
		}
	}
	return m
}

// place returns the terms that may be in place i of the phrase, and the documents that have one of them.
func (p *phrase) place(s *searcher, i int) (terms map[uint32]bool, docs []uint32) {
	text := p.terms[i]
	terms = map[uint32]bool{}
	if !p.prefix || i < len(p.terms)-1 {
		if t, ok := p.f.terms.Get(text); ok {
			terms[t.id] = true
			s.spend(int64(t.n) / docsPerStep)
			t.each(func(doc uint32, _ uint16) { docs = append(docs, doc) })
		}
		return terms, docs
	}
	hits := newSet(len(s.x.names))
	s.beginning(p.f, text, func(t *term) {
		terms[t.id] = true
		hits.putAll(&t.postings)
	})
	return terms, s.constant(hits).docs
}

// times returns the number of occurrences of the phrase in a stream of tokens; with slop it is at most 1.
func (p *phrase) times(stream []uint32, wanted []map[uint32]bool) (n int) {
	if p.slop == 0 {
		for i := 0; i+len(wanted) <= len(stream); i++ {
			if begins(stream[i:], wanted) {
				n++
			}
		}
		return n
	}
	for start := 0; start < len(stream); { // one value of the field after the other
		end := start
		for end < len(stream) && stream[end] != gap {
			end++
		}
		if p.moved(stream[start:end], wanted) {
			return 1
		}
		start = end + 1
	}
	return 0
}

// begins reports whether tokens begin with the wanted ones.
func begins(tokens []uint32, wanted []map[uint32]bool) bool {
	for i, w := range wanted {
		if !w[tokens[i]] {
			return false
		}
	}
	return true
}

// moved reports whether tokens have the terms of the phrase with at most slop moves: the places where they are, less the
// places where they should be, are within slop of each other.
func (p *phrase) moved(tokens []uint32, wanted []map[uint32]bool) bool {
	places := make([][]int, len(wanted))
	for i, w := range wanted {
		for at, id := range tokens {
			if w[id] {
				places[i] = append(places[i], at-i)
			}
		}
		if len(places[i]) == 0 {
			return false
		}
	}
	return within(places, p.slop)
}

// within reports whether one number of each list can be taken so that all are within distance of each other. The lists are
// in order and not empty.
func within(lists [][]int, distance int) bool {
	next := make([]int, len(lists))
	for {
		low, high, lowest := math.MaxInt, math.MinInt, 0
		for i := range lists {
			at := lists[i][next[i]]
			if at < low {
				low, lowest = at, i
			}
			high = max(high, at)
		}
		if high-low <= distance {
			return true
		}
		if next[lowest]++; next[lowest] == len(lists[lowest]) {
			return false
		}
	}
}
