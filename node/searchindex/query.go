package searchindex

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
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
	for _, kind := range [...]keyspace.Deadline{0, keyspace.Past} { // by cluster time, and by wall time
		s.x.dues.AscendHead(uint64(kind), func(d due, _ struct{}) bool {
			if !d.at.Passed(s.now) {
				return false
			}
			gone = append(gone, d.doc)
			return s.spend(1)
		})
	}
	if len(gone) == 0 {
		return m
	}
	slices.Sort(gone)
	return without(m, matches{docs: gone})
}

// sortable returns the field of a name if it can be sorted by.
func (in *index) sortable(name, option string) (*field, error) {
	f := in.byPath[name]
	switch {
	case f == nil:
		return nil, search.Errorf("Unknown field: %s", name)
	case !f.Column():
		return nil, search.Errorf("%s requires field '%s' to be FAST", option, name)
	}
	return f, nil
}

func (in *index) query(q *search.Query, now env.Time, b *budget) (*search.Hits, error) {
	n, err := in.parseFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	by, err := in.orderField(q.OrderBy)
	if err != nil {
		return nil, err
	}
	var score func(doc uint32, text float64) float64
	values := 0 // of a document that its score looks at
	if q.Score != nil {
		values = len(q.Score.Values)
		if score, err = in.scorer(q.Score); err != nil {
			return nil, err
		}
	}
	if err := in.checkHighlight(q.Highlight); err != nil {
		return nil, err
	}
	s := &searcher{budget: b, x: in, scored: by == nil, now: now}
	m := s.alive(s.eval(n))
	if !s.spend(int64(len(m.docs)) * int64(1+values)) {
		return nil, b.err
	}
	hits := &search.Hits{List: in.hits(s.best(m, by, q, score), by)}
	if len(q.Highlight) > 0 {
		hits.Highlight = in.highlighter(n, b)
	}
	return hits, b.err
}

// orderField is the field that a query sorts by; nil if it has no name.
func (in *index) orderField(name string) (*field, error) {
	if name == "" {
		return nil, nil
	}
	by, err := in.sortable(name, "ORDERBY")
	if err == nil && by.Type == search.Facet {
		return nil, search.Errorf("ORDERBY can't sort by field '%s', which is a FACET", name)
	}
	return by, err
}

// checkHighlight reports fields that have no texts to be marked.
func (in *index) checkHighlight(names []string) error {
	for _, name := range names {
		f := in.byPath[name]
		switch {
		case f == nil:
			return search.Errorf("Unknown field: %s", name)
		case f.Type != search.Text && f.Type != search.Keyword:
			return search.Errorf("HIGHLIGHT can't mark field '%s', which is %s", name, f.Type)
		}
	}
	return nil
}

// hits are documents as a result has them.
func (in *index) hits(list []found, by *field) []search.Hit {
	hits := make([]search.Hit, 0, len(list))
	for _, f := range list {
		h := search.Hit{Key: in.names[f.doc], Score: f.score}
		if by != nil && f.has {
			h.Shown = by.shown(f)
		}
		hits = append(hits, h)
	}
	return hits
}

// shown returns the sort value of a result in the form in which it is returned.
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

// sortKey sets the sort value of a document: the least of its values, or the greatest in descending order.
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

// valuesOf returns the number of values of a document in the field.
func (f *field) valuesOf(doc uint32) int64 {
	var one [1]uint64
	switch {
	case f.numbers != nil:
		return int64(len(f.column.values(doc, &one)))
	case int(doc) < len(f.streams):
		return int64(len(f.streams[doc]))
	}
	return 0
}

func (in *index) count(filter []byte, now env.Time, b *budget) (int64, error) {
	n, err := in.parseFilter(filter)
	if err != nil {
		return 0, err
	}
	s := &searcher{budget: b, x: in, now: now}
	m := s.alive(s.eval(n))
	return int64(len(m.docs)), b.err
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
func (in *index) scorer(fn *search.ScoreFunction) (func(doc uint32, text float64) float64, error) {
	fields := make([]*field, len(fn.Values))
	for i, v := range fn.Values {
		f, err := in.sortable(v.Field, "SCOREFUNC")
		if err != nil {
			return nil, err
		}
		if f.Type != search.U64 && f.Type != search.I64 && f.Type != search.F64 {
			return nil, search.Errorf("SCOREFUNC requires field '%s' to be U64, I64 or F64", v.Field)
		}
		fields[i] = f
	}
	return func(doc uint32, text float64) float64 {
		if score := combined(fn.Mode, text, valueOf(fn, fields, doc)); !math.IsNaN(score) {
			return score
		}
		return 0
	}, nil
}

// valueOf returns the value of a score function for a document.
func valueOf(fn *search.ScoreFunction, fields []*field, doc uint32) (value float64) {
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
	return value
}

// combined is the score of a text and the value of its document's fields.
func combined(mode search.Combine, text, value float64) float64 {
	switch mode {
	case search.Sum:
		return text + value
	case search.Replace:
		return value
	}
	return text * value
}

// modified is the value of a field in a score.
func (f *field) modified(doc uint32, v *search.FieldValue) float64 {
	var one [1]uint64
	r, ok := 0.0, false
	if all := f.column.values(doc, &one); len(all) > 0 {
		r, ok = modify(v.Modifier, f.asFloat(all[0]))
	}
	if !ok {
		r, ok = modify(v.Modifier, v.Missing)
	}
	if !ok {
		r = v.Missing
	}
	return r * v.Factor
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
