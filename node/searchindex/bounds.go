package searchindex

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
)

// bounds are values from low to high, both included.
type bounds struct {
	f         *field
	low, high uint64      // of numbers
	none      bool        // no value can match
	tests     []textBound // of a KEYWORD
}

// textBound is a bound of texts, in the order of bytes.
type textBound struct{ op, text string }

func (b textBound) holds(s string) bool {
	switch b.op {
	case "$gt":
		return s > b.text
	case "$gte":
		return s >= b.text
	case "$lt":
		return s < b.text
	}
	return s <= b.text
}

func (bo *bounds) atLeast(n uint64) { bo.low = max(bo.low, n) }
func (bo *bounds) atMost(n uint64)  { bo.high = min(bo.high, n) }

// number takes a bound of numbers or times.
func (bo *bounds) number(op string, v jsondoc.Value) error {
	if n, exact := number(bo.f.Type, v); exact {
		bo.limit(op, n)
	} else if want, fits := bo.f.kindOf(v); fits {
		f, _ := float(v)
		bo.between(op, f)
	} else {
		return wrongValue(bo.f, op, want, v)
	}
	return nil
}

// between takes a bound that is no value of the type, such as 1.5 of whole numbers or -1 of those without sign: it holds for
// the values beyond it.
func (bo *bounds) between(op string, f float64) {
	upper := op == "$lt" || op == "$lte"
	low, high := -float64(1<<63), float64(1<<63)
	if bo.f.Type == search.U64 {
		low, high = 0, 1<<64
	}
	switch {
	case f < low:
		bo.none = bo.none || upper
		return
	case f >= high:
		bo.none = bo.none || !upper
		return
	}
	n := orderedInt(int64(math.Floor(f)))
	if bo.f.Type == search.U64 {
		n = uint64(math.Floor(f))
	}
	if upper {
		bo.limit("$lte", n)
	} else { // the value after n is the first
		bo.limit("$gt", n)
	}
}

// limit takes a bound that is a value of the type.
func (bo *bounds) limit(op string, n uint64) {
	switch op {
	case "$gt":
		if n == math.MaxUint64 {
			bo.none = true
		} else {
			bo.atLeast(n + 1)
		}
	case "$gte":
		bo.atLeast(n)
	case "$lt":
		if n == 0 {
			bo.none = true
		} else {
			bo.atMost(n - 1)
		}
	case "$lte":
		bo.atMost(n)
	}
}

func (bo *bounds) eval(s *searcher) matches {
	if bo.none {
		return matches{}
	}
	if bo.f.terms != nil {
		return bo.evalTexts(s)
	}
	switch {
	case bo.low > bo.high:
		return matches{}
	case bo.low == bo.high:
		return bo.f.withNumber(bo.low)
	}
	hits := newSet(len(s.x.names))
	bo.f.numbers.Ascend(bo.low, func(n uint64, p *postings) bool {
		if n > bo.high || !s.spend(1+int64(p.n)/docsPerStep) {
			return false
		}
		hits.putAll(p)
		return true
	})
	return s.constant(hits)
}

// evalTexts finds the documents with a text that is within all bounds.
func (bo *bounds) evalTexts(s *searcher) matches {
	hits := newSet(len(s.x.names))
	bo.f.terms.All(func(text string, t *term) bool {
		if !s.spend(1 + int64(len(bo.tests)+t.n)/docsPerStep) {
			return false
		}
		if !slices.ContainsFunc(bo.tests, func(b textBound) bool { return !b.holds(text) }) {
			hits.putAll(&t.postings)
		}
		return true
	})
	return s.constant(hits)
}

// withNumber finds the documents with one number.
func (f *field) withNumber(n uint64) (m matches) {
	if p, ok := f.numbers.Get(n); ok {
		p.each(func(doc uint32, _ uint16) { m.docs = append(m.docs, doc) })
	}
	m.score = 1
	return m
}

// bound takes one of $gt, $gte, $lt and $lte.
func (bo *bounds) bound(op string, v jsondoc.Value) error {
	f := bo.f
	if f.Type == search.Text || f.Type == search.Facet || f.Type == search.Bool {
		return search.Errorf("Field '%s' is %s and has no operator %s", f.Name, f.Type, op)
	}
	if f.Type == search.Keyword {
		s, ok := v.(jsondoc.String)
		if !ok || !utf8.ValidString(string(s)) {
			return wrongValue(f, op, "a string", v)
		}
		bo.tests = append(bo.tests, textBound{op, string(s)})
		return nil
	}
	return bo.number(op, v)
}
