package searchindex

import (
	"math"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
)

// bounds are values from low to high, both included.
type bounds struct {
	f               *field
	low, high       uint64
	hasLow, hasHigh bool
	none            bool        // no value can match
	tests           []textBound // of a KEYWORD
}

// textBound is a bound of texts, in the order of bytes.
type textBound struct{ op, text string }

func (t textBound) holds(s string) bool {
	switch t.op {
	case "$gt":
		return s > t.text
	case "$gte":
		return s >= t.text
	case "$lt":
		return s < t.text
	}
	return s <= t.text
}

func (r *bounds) atLeast(n uint64) {
	if !r.hasLow || n > r.low {
		r.low, r.hasLow = n, true
	}
}

func (r *bounds) atMost(n uint64) {
	if !r.hasHigh || n < r.high {
		r.high, r.hasHigh = n, true
	}
}

// number takes a bound of numbers or times.
func (r *bounds) number(op string, v jsondoc.Value) error {
	if n, exact := number(r.f.Type, v); exact {
		r.limit(op, n)
		return nil
	}
	want, fits := r.f.kindOf(v)
	if !fits {
		return wrongValue(r.f, op, want, v)
	}
	r.between(op, float(v))
	return nil
}

// between takes a bound that is no value of the type, such as 1.5 of whole numbers or -1 of those without sign: it holds for
// the values beyond it.
func (r *bounds) between(op string, f float64) {
	upper := op == "$lt" || op == "$lte"
	low, high := -float64(1<<63), float64(1<<63)
	if r.f.Type == search.U64 {
		low, high = 0, 1<<64
	}
	switch {
	case f < low:
		r.none = r.none || upper
		return
	case f >= high:
		r.none = r.none || !upper
		return
	}
	n := orderedInt(int64(math.Floor(f)))
	if r.f.Type == search.U64 {
		n = uint64(math.Floor(f))
	}
	if upper {
		r.limit("$lte", n)
	} else { // the value after n is the first
		r.limit("$gt", n)
	}
}

// limit takes a bound that is a value of the type.
func (r *bounds) limit(op string, n uint64) {
	switch op {
	case "$gt":
		if n == math.MaxUint64 {
			r.none = true
		} else {
			r.atLeast(n + 1)
		}
	case "$gte":
		r.atLeast(n)
	case "$lt":
		if n == 0 {
			r.none = true
		} else {
			r.atMost(n - 1)
		}
	case "$lte":
		r.atMost(n)
	}
}

func float(v jsondoc.Value) float64 {
	switch n := v.(type) {
	case jsondoc.Int:
		return float64(n)
	case jsondoc.Uint:
		return float64(n)
	case jsondoc.Double:
		return float64(n)
	}
	return 0
}

func (r *bounds) eval(s *searcher) matches {
	if r.none {
		return matches{}
	}
	if r.f.terms != nil {
		return r.evalTexts(s)
	}
	low, high := uint64(0), uint64(math.MaxUint64)
	if r.hasLow {
		low = r.low
	}
	if r.hasHigh {
		high = r.high
	}
	switch {
	case low > high:
		return matches{}
	case low == high:
		return r.f.withNumber(low)
	}
	hits := newSet(len(s.x.names))
	r.f.numbers.Ascend(low, func(n uint64, p *postings) bool {
		if n > high || !s.spend(1+int64(p.n)/docsPerStep) {
			return false
		}
		p.each(func(doc uint32, _ uint16) { hits.put(doc) })
		return true
	})
	return s.constant(hits)
}

// evalTexts finds the documents with a text that is within all bounds.
func (r *bounds) evalTexts(s *searcher) matches {
	hits := newSet(len(s.x.names))
	r.f.terms.All(func(text string, t *term) bool {
		if !s.spend(1 + int64(len(r.tests)+t.n)/docsPerStep) {
			return false
		}
		for _, b := range r.tests {
			if !b.holds(text) {
				return true
			}
		}
		t.each(func(doc uint32, _ uint16) { hits.put(doc) })
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
func (r *bounds) bound(op string, v jsondoc.Value) error {
	f := r.f
	if f.Type == search.Text || f.Type == search.Facet || f.Type == search.Bool {
		return search.Errorf("Field '%s' is %s and has no operator %s", f.Name, f.Type, op)
	}
	if f.Type == search.Keyword {
		s, ok := v.(jsondoc.String)
		if !ok || !utf8.ValidString(string(s)) {
			return wrongValue(f, op, "a string", v)
		}
		r.tests = append(r.tests, textBound{op, string(s)})
		return nil
	}
	return r.number(op, v)
}
