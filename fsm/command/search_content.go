package command

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// searchContent returns the pairs of field and value that a query shows of a document; false if the document no longer exists.
func (tx *Tx) searchContent(d *search.Definition, key string, q *searchWords, mark func(field, value, open, close string) string) ([]reply.Value, bool) {
	show := func(field, value string) []reply.Value {
		for _, name := range q.Highlight {
			if f := d.Field(name); f != nil && f.Path() == field {
				value = mark(name, value, q.open, q.close)
			}
		}
		return []reply.Value{reply.Array(reply.Bulk(field), reply.Bulk(value))}
	}
	fields := []reply.Value{}
	if d.Source == search.Stream {
		o, log, ok := find[*keyspace.StreamLog](tx, []byte(d.Prefixes[0]))
		id, _, parsed := parseStreamID([]byte(key), 0, false)
		if !ok || o == nil || !parsed {
			return nil, false
		}
		e, found := log.Get(id)
		if !found {
			return nil, false
		}
		field, isValue := "", false
		e.Words(func(word string) {
			if isValue && (q.selected == nil || slices.Contains(q.selected, field)) {
				fields = append(fields, show(field, word)...)
			}
			field, isValue = word, !isValue
		})
		return fields, true
	}
	o := tx.DB.Peek(tx.Env, []byte(key))
	switch {
	case o == nil:
		return nil, false
	case o.Type() == keyspace.Hash && d.Source == search.Hash:
		h := o.Data().(*keyspace.Fields)
		if q.selected == nil {
			h.All(tx.Time, func(field, value string) bool {
				fields = append(fields, show(field, value)...)
				return true
			})
			slices.SortFunc(fields, func(a, b reply.Value) int { return strings.Compare(a.Elems()[0].Text(), b.Elems()[0].Text()) })
		}
		for _, name := range q.selected {
			if value, _, ok := h.Get(tx.Time, name); ok {
				fields = append(fields, show(name, value)...)
			}
		}
		return fields, true
	}
	root, ok := searchDocument(d, o)
	if !ok {
		return nil, false
	}
	return q.documentFields(d, root, mark), true
}

// searchDocument is the JSON document of a key, false if the key is of another type than the index.
func searchDocument(d *search.Definition, o *keyspace.Object) (jsondoc.Value, bool) {
	switch {
	case d.Source == search.JSON && o.Type() == keyspace.JSON:
		return o.Data().(*keyspace.Document).Root(), true
	case d.Source == search.String && o.Type() == keyspace.String:
		v, err := jsondoc.Parse([]byte(o.Text()))
		return v, err == nil
	}
	return nil, false
}

// documentFields are the whole document under "$", or the fields that are selected.
func (sw *searchWords) documentFields(d *search.Definition, root jsondoc.Value, mark func(field, value, open, close string) string) []reply.Value {
	for _, name := range sw.Highlight {
		if f := d.Field(name); f != nil {
			root = replaceText(root, f.Path(), func(text string) string { return mark(name, text, sw.open, sw.close) })
		}
	}
	if sw.selected == nil {
		text, err := jsondoc.Text(root)
		if err != nil {
			text = "null"
		}
		return []reply.Value{reply.Array(reply.Bulk("$"), reply.Bulk(text))}
	}
	fields := []reply.Value{}
	for _, name := range sw.selected {
		v := search.Lookup(root, name)
		if v == nil {
			continue
		}
		text := ""
		if s, ok := v.(jsondoc.String); ok {
			text = string(s)
		} else if t, err := jsondoc.Text(v); err == nil {
			text = t
		}
		fields = append(fields, reply.Array(reply.Bulk(name), reply.Bulk(text)))
	}
	return fields
}

// replaceText is a document whose texts at a dot path, or the elements of an array there, are replaced. The original stays.
func replaceText(v jsondoc.Value, path string, with func(string) string) jsondoc.Value {
	o, ok := v.(*jsondoc.Object)
	if !ok {
		return v
	}
	head, rest := path, ""
	if _, whole := o.Get(path); !whole {
		head, rest, _ = strings.Cut(path, ".")
	}
	members := []jsondoc.Member{}
	o.All(func(key string, v jsondoc.Value) bool {
		switch {
		case key != head:
		case rest != "":
			v = replaceText(v, rest, with)
		default:
			v = markTexts(v, with)
		}
		members = append(members, jsondoc.Member{Key: key, Value: v})
		return true
	})
	return jsondoc.ObjectOf(members...)
}

func markTexts(v jsondoc.Value, with func(string) string) jsondoc.Value {
	switch v := v.(type) {
	case jsondoc.String:
		return jsondoc.String(with(string(v)))
	case *jsondoc.Array:
		values := make([]jsondoc.Value, 0, v.Len())
		v.All(func(_ int, e jsondoc.Value) bool {
			if s, ok := e.(jsondoc.String); ok {
				e = jsondoc.String(with(string(s)))
			}
			values = append(values, e)
			return true
		})
		return jsondoc.NewArray(values...)
	}
	return v
}
