package searchindex

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/search"
)

// values holds a document's values of one field: texts, or numbers as ordered bits (see ordered).
type values struct {
	texts   []string
	numbers []uint64
}

func (v *values) empty() bool { return len(v.texts) == 0 && len(v.numbers) == 0 }

// A document holds the indexed values of a key or stream entry. They share no memory with the state.
type document struct {
	name   string
	gone   keyspace.Deadline // that of its key, 0 for none
	fields []values
}

// maxValues bounds the values of one field in a document. Later values are not indexed.
const maxValues = 1 << 16

// take adds a value of JSON.
func (v *values) take(f *search.Field, j jsondoc.Value, many bool) {
	if f.Type.Numeric() {
		if n, ok := number(f.Type, j); ok {
			v.numbers = append(v.numbers, n)
			return
		}
	} else if s, ok := j.(jsondoc.String); ok {
		v.text(f, string(s))
		return
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
func (in *index) fromObject(key string, o *keyspace.Object, now env.Time) *document {
	doc := &document{name: strings.Clone(key), gone: o.Expire, fields: make([]values, len(in.contents))}
	switch source := in.def.Source; {
	case source == search.Hash && o.Type() == keyspace.Hash:
		h := o.Data().(*keyspace.Fields)
		for i, c := range in.contents {
			if value, _, ok := h.Get(now, c.of.Path()); ok {
				doc.fields[i].takeText(c.of, value, several(in.def, c.of))
			}
		}
	case source == search.JSON && o.Type() == keyspace.JSON:
		in.takeJSON(doc, o.Data().(*keyspace.Document).Root())
	case source == search.String && o.Type() == keyspace.String:
		root, err := jsondoc.Parse([]byte(o.Text()))
		if err != nil {
			return nil
		}
		in.takeJSON(doc, root)
	default:
		return nil
	}
	return doc.valid()
}

func (in *index) takeJSON(doc *document, root jsondoc.Value) {
	for i, c := range in.contents {
		if v := search.Lookup(root, c.of.Path()); v != nil {
			doc.fields[i].take(c.of, v, several(in.def, c.of))
		}
	}
}

// fromEntry is the document of a stream entry, nil if it is none, and what it weighs. Of a field that is there twice the last counts.
func (in *index) fromEntry(e keyspace.StreamEntry) (d *document, weight int64) {
	doc := &document{name: e.ID.String(), fields: make([]values, len(in.contents))}
	found := map[string]string{}
	field, isValue := "", false
	weight = int64(len(in.contents)) * fieldWeight
	e.Words(func(word string) {
		if isValue {
			found[field] = word
		}
		weight += int64(len(word)) * in.overlap
		field, isValue = word, !isValue
	})
	for i, c := range in.contents {
		if value, ok := found[c.of.Path()]; ok {
			doc.fields[i].takeText(c.of, value, several(in.def, c.of))
		}
	}
	return doc.valid(), weight
}

// valid is the document if it has any value, nil otherwise.
func (d *document) valid() *document {
	if slices.ContainsFunc(d.fields, func(v values) bool { return !v.empty() }) {
		return d
	}
	return nil
}
