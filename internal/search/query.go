package search

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// found is a document of a result on its way.
type found struct {
	doc   uint32
	score float64
	key   uint64 // ordered bits of what it is sorted by
	text  string // the same of texts
	has   bool   // it has a value to be sorted by
}

// alive drops the documents whose key is past its deadline.
func (s *searcher) alive(m matches) matches {
	if len(s.x.gone) == 0 {
		return m
	}
	var gone []uint32
	s.x.dues.All(func(d due, _ struct{}) bool {
		if d.at > s.now {
			return false
		}
		gone = append(gone, d.doc)
		return true
	})
	if len(gone) == 0 {
		return m
	}
	slices.Sort(gone)
	return without(m, matches{docs: gone})
}

// column is the field of a name if it can be sorted by.
func (x *index) sortable(name, option string) (*field, error) {
	f := x.byPath[name]
	switch {
	case f == nil:
		return nil, search.Errorf("Unknown field: %s", name)
	case !f.Column():
		return nil, search.Errorf("%s requires field '%s' to be FAST", option, name)
	}
	return f, nil
}

func (x *index) query(q *search.Query, now int64) (*search.Hits, error) {
	n, err := x.parseFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	var by *field
	if q.OrderBy != "" {
		if by, err = x.sortable(q.OrderBy, "ORDERBY"); err != nil {
			return nil, err
		}
		if by.Type == search.Facet {
			return nil, search.Errorf("ORDERBY can't sort by field '%s', which is a FACET", q.OrderBy)
		}
	}
	var score func(doc uint32, text float64) float64
	if q.Score != nil {
		if score, err = x.scorer(q.Score); err != nil {
			return nil, err
		}
	}
	for _, name := range q.Highlight {
		f := x.byPath[name]
		switch {
		case f == nil:
			return nil, search.Errorf("Unknown field: %s", name)
		case f.Type != search.Text && f.Type != search.Keyword:
			return nil, search.Errorf("HIGHLIGHT can't mark field '%s', which is %s", name, f.Type)
		}
	}
	s := &searcher{x: x, scored: by == nil, now: now}
	m := s.alive(n.eval(s))
	list := s.best(m, by, q, score)
	hits := &search.Hits{List: make([]search.Hit, 0, len(list))}
	for _, f := range list {
		h := search.Hit{Key: x.names[f.doc], Score: f.score}
		if by != nil && f.has {
			h.Shown = by.shown(f)
		}
		hits.List = append(hits.List, h)
	}
	if len(q.Highlight) > 0 {
		hits.Highlight = x.highlighter(n)
	}
	return hits, nil
}

// shown is what a result shows of the value that it is sorted by.
func (f *field) shown(d found) string {
	switch f.Type {
	case search.Keyword:
		return d.text
	case search.U64, search.Bool:
		return strconv.FormatUint(d.key, 10)
	case search.I64:
		return strconv.FormatInt(intOf(d.key), 10)
	case search.Date:
		return reply.FormatDouble(float64(intOf(d.key)) / 1000)
	}
	return reply.FormatDouble(floatOf(d.key))
}

// best are the documents of a page, in order.
func (s *searcher) best(m matches, by *field, q *search.Query, score func(uint32, float64) float64) []found {
	want := q.Offset + q.Limit
	before := func(a, b *found) bool {
		if by != nil {
			switch {
			case a.has != b.has:
				return a.has
			case a.key != b.key:
				return (a.key < b.key) != q.Descending
			case a.text != b.text:
				return (a.text < b.text) != q.Descending
			}
		} else if a.score != b.score {
			return a.score > b.score
		}
		return s.x.names[a.doc] < s.x.names[b.doc]
	}
	heap := make([]found, 0, min(want, len(m.docs))) // the worst of those kept is at its root
	for i, doc := range m.docs {
		d := found{doc: doc}
		if by != nil {
			by.sortKey(&d, q.Descending)
		} else if d.score = m.at(i); score != nil {
			d.score = score(doc, d.score)
		}
		if len(heap) < want {
			heap = append(heap, d)
			for i := len(heap) - 1; i > 0; {
				parent := (i - 1) / 2
				if !before(&heap[parent], &heap[i]) {
					break
				}
				heap[parent], heap[i] = heap[i], heap[parent]
				i = parent
			}
			continue
		}
		if !before(&d, &heap[0]) {
			continue
		}
		heap[0] = d
		for i := 0; ; {
			worst := i
			for _, kid := range []int{2*i + 1, 2*i + 2} {
				if kid < len(heap) && before(&heap[worst], &heap[kid]) {
					worst = kid
				}
			}
			if worst == i {
				break
			}
			heap[i], heap[worst] = heap[worst], heap[i]
			i = worst
		}
	}
	slices.SortFunc(heap, func(a, b found) int {
		if before(&a, &b) {
			return -1
		}
		return 1
	})
	return heap[min(q.Offset, len(heap)):]
}

// sortKey is what a document is sorted by: the least of several values, or the greatest if the greatest come first.
func (f *field) sortKey(d *found, descending bool) {
	if f.numbers != nil {
		var one [1]uint64
		for i, n := range f.column.values(d.doc, &one) {
			if i == 0 || (n < d.key) != descending {
				d.key, d.has = n, true
			}
		}
		return
	}
	if int(d.doc) >= len(f.streams) {
		return
	}
	for _, id := range f.streams[d.doc] {
		if id == gap {
			continue
		}
		if text := f.byID[id].text; !d.has || (text < d.text) != descending {
			d.text, d.has = text, true
		}
	}
}

func (x *index) count(filter []byte, now int64) (int64, error) {
	n, err := x.parseFilter(filter)
	if err != nil {
		return 0, err
	}
	s := &searcher{x: x, now: now}
	return int64(len(s.alive(n.eval(s)).docs)), nil
}

// asFloat is a number of a field as a double: times are unix milliseconds.
func (f *field) asFloat(bits uint64) float64 {
	switch f.Type {
	case search.U64, search.Bool:
		return float64(bits)
	case search.I64:
		return float64(intOf(bits))
	case search.Date:
		return float64(intOf(bits)) / 1000
	}
	return floatOf(bits)
}

// scorer makes the function that a query scores with.
func (x *index) scorer(fn *search.ScoreFunction) (func(doc uint32, text float64) float64, error) {
	fields := make([]*field, len(fn.Values))
	for i, v := range fn.Values {
		f, err := x.sortable(v.Field, "SCOREFUNC")
		if err != nil {
			return nil, err
		}
		if f.Type != search.U64 && f.Type != search.I64 && f.Type != search.F64 {
			return nil, search.Errorf("SCOREFUNC requires field '%s' to be U64, I64 or F64", v.Field)
		}
		fields[i] = f
	}
	return func(doc uint32, text float64) float64 {
		value := 0.0
		for i := range fn.Values {
			v := fields[i].modified(doc, &fn.Values[i])
			switch {
			case i == 0:
				value = v
			case fn.Among == search.Sum:
				value += v
			default:
				value *= v
			}
		}
		switch fn.Mode {
		case search.Sum:
			text += value
		case search.Replace:
			text = value
		default:
			text *= value
		}
		if math.IsNaN(text) {
			return 0
		}
		return text
	}, nil
}

// modified is the value of a field in a score.
func (f *field) modified(doc uint32, v *search.FieldValue) float64 {
	var one [1]uint64
	if all := f.column.values(doc, &one); len(all) > 0 {
		if r, ok := modify(v.Modifier, f.asFloat(all[0])); ok {
			return r * v.Factor
		}
	}
	if r, ok := modify(v.Modifier, v.Missing); ok {
		return r * v.Factor
	}
	return v.Missing * v.Factor
}

// modify is a modifier of a score function; false where it is not defined.
func modify(name string, v float64) (r float64, ok bool) {
	switch {
	case strings.HasSuffix(name, "1P"):
		v++
	case strings.HasSuffix(name, "2P"):
		v += 2
	}
	switch {
	case strings.HasPrefix(name, "LOG"):
		r = math.Log10(v)
	case strings.HasPrefix(name, "LN"):
		r = math.Log(v)
	case name == "SQUARE":
		r = v * v
	case name == "SQRT":
		r = math.Sqrt(v)
	case name == "RECIPROCAL":
		r = 1 / v
	default:
		r = v
	}
	return r, !math.IsNaN(r) && !math.IsInf(r, 0)
}
