package searchindex

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
)

// marks holds the terms and prefixes of a filter on one field that a highlight marks.
type marks struct {
	terms       map[string]bool
	prefixes    []string
	open, close string // around what is marked
	*budget
}

func (m *marks) has(term string) bool {
	return m.terms[term] || slices.ContainsFunc(m.prefixes, func(p string) bool { return strings.HasPrefix(term, p) })
}

// collect finds the words and phrases of a filter, but those that must not match.
func collect(n node, of func(f *field) *marks) {
	switch n := n.(type) {
	case *boost:
		collect(n.node, of)
	case *boolean:
		for _, c := range slices.Concat(n.must, n.should) {
			collect(c, of)
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

// What a step of marking is.
const (
	markedPerStep   = 8  // bytes that are cut into words, or written around them
	comparedPerStep = 64 // bytes of a value, for each beginning of a word that is asked for
)

// highlighter marks what a filter asks for in values of fields.
func (in *index) highlighter(n node, b *budget) func(name, value, open, close string) string {
	wanted := map[*field]*marks{}
	collect(n, func(f *field) *marks {
		if wanted[f] == nil {
			wanted[f] = &marks{terms: map[string]bool{}}
		}
		return wanted[f]
	})
	return func(name, value, open, close string) string {
		f := in.byPath[name]
		m := wanted[f]
		if m == nil {
			return value
		}
		m.open, m.close, m.budget = open, close, b
		defer b.settle()
		if n := int64(len(value)); !b.spend(1 + n/markedPerStep + n*int64(len(m.prefixes))/comparedPerStep) {
			return value
		}
		if in.def.Source != search.JSON && in.def.Source != search.String && strings.HasPrefix(value, "[") {
			if marked, ok := f.markList(m, value); ok {
				return marked
			}
		}
		return f.mark(m, value)
	}
}

// markList marks the elements of an array in the text of a hash or stream.
func (f *field) markList(m *marks, value string) (string, bool) {
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
			e = jsondoc.String(f.mark(m, string(s)))
		}
		list = append(list, e)
		return true
	})
	text, err := jsondoc.Text(jsondoc.NewArray(list...))
	return text, err == nil
}

// mark marks one value, as far as there is work left.
func (f *field) mark(m *marks, value string) string {
	cost := 1 + int64(len(m.open)+len(m.close))/markedPerStep
	if f.Type != search.Text {
		if m.has(value) && m.spend(cost) {
			return m.open + value + m.close
		}
		return value
	}
	var b strings.Builder
	at := 0
	f.analyzer.each(value, func(term string, start, end int) bool {
		if !m.has(term) {
			return true
		}
		if !m.spend(cost) {
			return false
		}
		for _, part := range [...]string{value[at:start], m.open, value[start:end], m.close} {
			b.WriteString(part)
		}
		at = end
		return true
	})
	b.WriteString(value[at:])
	return b.String()
}
