package search

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
)

// marks are what a filter asks of a field by word.
type marks struct {
	terms    map[string]bool
	prefixes []string
}

func (m *marks) has(term string) bool {
	if m.terms[term] {
		return true
	}
	for _, p := range m.prefixes {
		if strings.HasPrefix(term, p) {
			return true
		}
	}
	return false
}

// collect finds the words and phrases of a filter, but those that must not match.
func collect(n node, of func(f *field) *marks) {
	switch n := n.(type) {
	case *boost:
		collect(n.node, of)
	case *boolean:
		for _, list := range [][]node{n.must, n.should} {
			for _, c := range list {
				collect(c, of)
			}
		}
	case *word:
		of(n.f).terms[n.text] = true
	case *phrase:
		for i, t := range n.terms {
			if n.prefix && i == len(n.terms)-1 {
				of(n.f).prefixes = append(of(n.f).prefixes, t)
			} else {
				of(n.f).terms[t] = true
			}
		}
	case *near:
		if n.z.prefix && n.z.distance == 0 {
			of(n.f).prefixes = append(of(n.f).prefixes, string(n.z.word))
		}
	}
}

// highlighter marks what a filter asks for in values of fields.
func (x *index) highlighter(n node) func(name, value, open, close string) string {
	wanted := map[*field]*marks{}
	collect(n, func(f *field) *marks {
		if wanted[f] == nil {
			wanted[f] = &marks{terms: map[string]bool{}}
		}
		return wanted[f]
	})
	return func(name, value, open, close string) string {
		f := x.byPath[name]
		m := wanted[f]
		if m == nil {
			return value
		}
		if x.def.Source != search.JSON && x.def.Source != search.String && strings.HasPrefix(value, "[") {
			if marked, ok := f.markList(m, value, open, close); ok {
				return marked
			}
		}
		return f.mark(m, value, open, close)
	}
}

// markList marks the elements of an array in the text of a hash or stream.
func (f *field) markList(m *marks, value, open, close string) (string, bool) {
	v, err := jsondoc.Parse([]byte(value))
	if err != nil {
		return "", false
	}
	a, ok := v.(*jsondoc.Array)
	if !ok {
		return "", false
	}
	var list []jsondoc.Value
	a.All(func(_ int, e jsondoc.Value) bool {
		if s, ok := e.(jsondoc.String); ok {
			e = jsondoc.String(f.mark(m, string(s), open, close))
		}
		list = append(list, e)
		return true
	})
	text, err := jsondoc.Text(jsondoc.NewArray(list...))
	return text, err == nil
}

// mark marks one value.
func (f *field) mark(m *marks, value, open, close string) string {
	if f.Type != search.Text {
		if m.has(value) {
			return open + value + close
		}
		return value
	}
	var b strings.Builder
	at := 0
	for _, t := range f.analyzer.tokens(value) {
		if m.has(t.term) {
			b.WriteString(value[at:t.start] + open + value[t.start:t.end] + close)
			at = t.end
		}
	}
	b.WriteString(value[at:])
	return b.String()
}
