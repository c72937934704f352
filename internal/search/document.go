package search

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/search"
)

// values are what a document has of one field: texts, or numbers as ordered bits (see ordered).
type values struct {
	texts   []string
	numbers []uint64
}

func (v *values) empty() bool { return len(v.texts) == 0 && len(v.numbers) == 0 }

// document is what an index takes of a key or stream entry. Its values share nothing with the state.
type document struct {
	name   string
	gone   int64 // the deadline of its key in unix milliseconds, 0 for none
	fields []values
}

// Ordered bits: numbers of a type as integers in the same order.

func orderedFloat(f float64) uint64 {
	if f == 0 {
		f = 0 // no negative zero
	}
	bits := math.Float64bits(f)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func floatOf(bits uint64) float64 {
	if bits>>63 != 0 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}

func orderedInt(i int64) uint64 { return uint64(i) ^ 1<<63 }

func intOf(bits uint64) int64 { return int64(bits ^ 1<<63) }

// number is the ordered bits of a number or boolean of JSON as a value of a type; false if it is none. Dates come as text.
func number(t search.FieldType, v jsondoc.Value) (uint64, bool) {
	switch t {
	case search.Bool:
		b, ok := v.(jsondoc.Bool)
		if !ok {
			return 0, false
		}
		if b {
			return 1, true
		}
		return 0, true
	case search.Date:
		s, ok := v.(jsondoc.String)
		if !ok {
			return 0, false
		}
		return date(string(s))
	case search.U64:
		switch n := v.(type) {
		case jsondoc.Int:
			return uint64(n), n >= 0
		case jsondoc.Uint:
			return uint64(n), true
		case jsondoc.Double:
			return uint64(n), n >= 0 && float64(n) == math.Trunc(float64(n)) && n < 1<<64
		}
	case search.I64:
		switch n := v.(type) {
		case jsondoc.Int:
			return orderedInt(int64(n)), true
		case jsondoc.Uint:
			return orderedInt(int64(n)), n <= math.MaxInt64
		case jsondoc.Double:
			return orderedInt(int64(n)), float64(n) == math.Trunc(float64(n)) && n >= -1<<63 && n < 1<<63
		}
	case search.F64:
		switch n := v.(type) {
		case jsondoc.Int:
			return orderedFloat(float64(n)), true
		case jsondoc.Uint:
			return orderedFloat(float64(n)), true
		case jsondoc.Double:
			return orderedFloat(float64(n)), true
		}
	}
	return 0, false
}

// date is a time in RFC 3339 as ordered microseconds since 1970.
func date(text string) (uint64, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, false
	}
	return orderedInt(t.UnixMicro()), true
}

// written is the value that a text of a hash or stream stands for.
func written(t search.FieldType, text string) (uint64, bool) {
	switch t {
	case search.Bool:
		switch text {
		case "true":
			return 1, true
		case "false":
			return 0, true
		}
	case search.Date:
		return date(text)
	case search.U64:
		n, err := strconv.ParseUint(text, 10, 64)
		return n, err == nil
	case search.I64:
		n, err := strconv.ParseInt(text, 10, 64)
		return orderedInt(n), err == nil
	case search.F64:
		f, err := strconv.ParseFloat(text, 64)
		return orderedFloat(f), err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return 0, false
}

// maxValues is how many values a document may have of one field: those after are left out of the index.
const maxValues = 1 << 16

// take adds a value of JSON.
func (v *values) take(f *search.Field, j jsondoc.Value, many bool) {
	switch {
	case f.Type.Numeric():
		if n, ok := number(f.Type, j); ok {
			v.numbers = append(v.numbers, n)
			return
		}
	default:
		if s, ok := j.(jsondoc.String); ok {
			v.text(f, string(s))
			return
		}
	}
	if a, ok := j.(*jsondoc.Array); ok && many {
		a.All(func(i int, e jsondoc.Value) bool {
			v.take(f, e, false)
			return i < maxValues
		})
	}
}

func (v *values) text(f *search.Field, s string) {
	if s == "" || (f.Type == search.Facet && !strings.HasPrefix(s, "/")) {
		return
	}
	v.texts = append(v.texts, strings.Clone(s))
}

// takeText adds a value of a hash or stream, which is a text. An array of JSON is several values.
func (v *values) takeText(f *search.Field, s string, many bool) {
	if many && strings.HasPrefix(s, "[") {
		if j, err := jsondoc.Parse([]byte(s)); err == nil {
			if _, list := j.(*jsondoc.Array); list {
				v.take(f, j, true)
				return
			}
		}
	}
	if !f.Type.Numeric() {
		v.text(f, s)
	} else if n, ok := written(f.Type, s); ok {
		v.numbers = append(v.numbers, n)
	}
}

// several reports whether a field of a source may have more than one value.
func several(d *search.Definition, f *search.Field) bool {
	switch f.Type {
	case search.Text, search.Keyword:
		return true
	case search.Bool, search.Facet:
		return false
	}
	return d.Source == search.Stream
}

// fromObject is the document of a key, nil if it is none.
func fromObject(d *search.Definition, key string, o *keyspace.Object, now int64) *document {
	doc := &document{name: strings.Clone(key), gone: o.Expire, fields: make([]values, len(d.Schema))}
	switch {
	case d.Source == search.Hash && o.Type() == keyspace.Hash:
		h := o.Data().(*keyspace.Fields)
		for i := range d.Schema {
			f := &d.Schema[i]
			if value, _, ok := h.Get(now, f.Path()); ok {
				doc.fields[i].takeText(f, value, several(d, f))
			}
		}
	case d.Source == search.JSON && o.Type() == keyspace.JSON:
		doc.takeJSON(d, o.Data().(*keyspace.Document).Root())
	case d.Source == search.String && o.Type() == keyspace.String:
		root, err := jsondoc.Parse([]byte(o.Text()))
		if err != nil {
			return nil
		}
		doc.takeJSON(d, root)
	default:
		return nil
	}
	return doc.valid()
}

func (doc *document) takeJSON(d *search.Definition, root jsondoc.Value) {
	for i := range d.Schema {
		f := &d.Schema[i]
		if v := search.Lookup(root, f.Path()); v != nil {
			doc.fields[i].take(f, v, several(d, f))
		}
	}
}

// fromEntry is the document of a stream entry, nil if it is none. Of a field that is there twice the last counts.
func fromEntry(d *search.Definition, e keyspace.StreamEntry) *document {
	doc := &document{name: e.ID.String(), fields: make([]values, len(d.Schema))}
	found := map[string]string{}
	field, isValue := "", false
	e.Words(func(word string) {
		if isValue {
			found[field] = word
		}
		field, isValue = word, !isValue
	})
	for i := range d.Schema {
		f := &d.Schema[i]
		if value, ok := found[f.Path()]; ok {
			doc.fields[i].takeText(f, value, several(d, f))
		}
	}
	return doc.valid()
}

// valid is the document if it has any value, nil otherwise.
func (doc *document) valid() *document {
	for i := range doc.fields {
		if !doc.fields[i].empty() {
			return doc
		}
	}
	return nil
}
