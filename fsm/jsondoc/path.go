package jsondoc

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Path is a compiled path: JSONPath, which may find many values, or one of the legacy form, which is about a single one.
type Path struct {
	// Legacy reports that the text is not JSONPath.
	Legacy bool
	// Text is the path as JSONPath: that of a legacy path with $ or $. before it.
	Text  string
	steps []step
}

// step is one move away from the root: to what its selectors choose of each value so far,
// or, if it is deep, of these values and of all that is in them.
type step struct {
	deep      bool
	selectors []selector
}

// selector chooses children of a value.
type selector interface{ selects() }

type (
	// named is the member of that key.
	named string
	// indexed is the element at that position; negative ones count from the end.
	indexed int
	// every is all children.
	every struct{}
	// sliced is every step-th element from start up to, not including, end, by the rules
	// of RFC 9535.
	sliced struct {
		start, end       int
		hasStart, hasEnd bool
		step             int
	}
	// filtered is all children for which the condition holds.
	filtered struct{ condition }
)

func (named) selects()    {}
func (indexed) selects()  {}
func (every) selects()    {}
func (sliced) selects()   {}
func (filtered) selects() {}

// PathError says why a text is no path, and at which byte, counted from 0.
type PathError struct {
	Problem  string
	Position int
}

// Error is the problem and its place.
func (e *PathError) Error() string {
	return fmt.Sprintf("invalid path at position %d: %s", e.Position, e.Problem)
}

// Limits of a path.
const (
	maxNesting = 64     // conditions within conditions
	MaxProgram = 20_000 // size of all its regular expressions together
)

// IsRoot reports whether the path is the root alone.
func (p *Path) IsRoot() bool { return len(p.steps) == 0 }

// Single reports whether the path can lead to one place at most, whatever the document.
func (p *Path) Single() bool {
	for _, s := range p.steps {
		if s.deep || len(s.selectors) > 1 {
			return false
		}
		switch s.selectors[0].(type) {
		case named, indexed:
		default:
			return false
		}
	}
	return true
}

// Parent is a Single path without its last step, and the key that this step names. It is
// not ok if there is no last step or it names no key.
func (p *Path) Parent() (parent *Path, key string, ok bool) {
	if p.IsRoot() {
		return nil, "", false
	}
	last := len(p.steps) - 1
	name, ok := p.steps[last].selectors[0].(named)
	return &Path{Legacy: p.Legacy, Text: p.Text, steps: p.steps[:last]}, string(name), ok
}

// deeps is the number of steps that search all that is below.
func (p *Path) deeps() (n int) {
	for _, s := range p.steps {
		if s.deep {
			n++
		}
	}
	return n
}

// Root is the legacy path of the whole document, which commands without a path mean.
func Root() *Path { return &Path{Legacy: true, Text: "$"} }

// ParsePath compiles a path. JSONPath is $ alone and what begins with "$." or "$[". Every other text is a legacy path:
// JSONPath without the leading $ or "$.", such as ".a.b", "a.b", "[0]", "$a" (the member of that name), and "." for the
// root. The error is a *PathError or ErrUTF8.
func ParsePath(text string) (*Path, error) {
	p, _, err := ParsePathWithin(text, MaxProgram)
	return p, err
}

// ParsePathWithin is ParsePath for a command whose paths together may have so large programs of regular expressions. It
// returns the size of those of this path, at most MaxProgram.
func ParsePathWithin(text string, program int) (*Path, int, error) {
	return parsePath(text, min(program, MaxProgram), text == "$" || strings.HasPrefix(text, "$.") || strings.HasPrefix(text, "$["))
}

func parsePath(text string, program int, isJSONPath bool) (*Path, int, error) {
	if !utf8.ValidString(text) {
		return nil, 0, ErrUTF8
	}
	path := &Path{Text: text, Legacy: !isJSONPath}
	if path.Legacy {
		path.Text = modern(text)
	}
	p := &pathParser{text: path.Text, at: 1, mostProgram: program}
	path.steps = p.steps()
	if p.err == nil && p.at < len(p.text) {
		p.fail("a step begins with a point or a bracket")
	}
	if p.err != nil {
		return nil, p.program, p.err
	}
	return path, p.program, nil
}

// modern is a legacy path as JSONPath.
func modern(text string) string {
	switch {
	case text == ".":
		return "$"
	case text == "" || text[0] != '.' && text[0] != '[':
		return "$." + text
	case strings.HasPrefix(text, ".["):
		return "$" + text[1:]
	}
	return "$" + text
}

// pathParser reads a path. Its error is sticky: after the first one nothing is read.
type pathParser struct {
	text    string
	at      int
	nesting int
	program int // size of the regular expressions so far

	mostProgram int // of them all
	err         *PathError
}

func (p *pathParser) fail(problem string) {
	if p.err == nil {
		p.err = &PathError{problem, p.at}
		p.at = len(p.text)
	}
}

// is reports whether s is next, and skips it.
func (p *pathParser) is(s string) bool {
	if len(p.text)-p.at < len(s) || p.text[p.at:p.at+len(s)] != s {
		return false
	}
	p.at += len(s)
	return true
}

func (p *pathParser) blank() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\n' || p.text[p.at] == '\r') {
		p.at++
	}
}

// peek is the next byte, 0 at the end.
func (p *pathParser) peek() byte {
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// steps reads the steps that are next, up to what belongs to none.
func (p *pathParser) steps() (steps []step) {
	for p.err == nil {
		switch {
		case p.is(".."):
			steps = append(steps, step{deep: true, selectors: p.selectors()})
		case p.is("."):
			steps = append(steps, step{selectors: p.selectors()})
		case p.peek() == '[':
			steps = append(steps, step{selectors: p.selectors()})
		default:
			return steps
		}
	}
	return nil
}

// selectors reads a name, a star, or selectors in brackets.
func (p *pathParser) selectors() []selector {
	switch {
	case p.is("["):
		return p.brackets()
	case p.is("*"):
		return []selector{every{}}
	}
	return []selector{p.name()}
}

// name reads a key that stands without quotes.
func (p *pathParser) name() selector {
	start := p.at
	for p.at < len(p.text) && !ends(p.text[p.at]) {
		p.at++
	}
	if p.at == start {
		p.fail("expected a name")
	}
	return named(p.text[start:p.at])
}

// ends reports whether c can't stand in a key without quotes.
func ends(c byte) bool {
	switch c {
	case '.', '[', ']', '(', ')', '*', ',', '\'', '"', '=', '<', '>', '!', '&', '|', '?', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

// brackets reads the selectors up to the closing bracket.
func (p *pathParser) brackets() (all []selector) {
	for p.err == nil {
		p.blank()
		all = append(all, p.selector())
		p.blank()
		switch {
		case p.is("]"):
			return all
		case !p.is(","):
			p.fail("expected a comma or a closing bracket")
		}
	}
	return nil
}

func (p *pathParser) selector() selector {
	switch c := p.peek(); {
	case c == '\'' || c == '"':
		return named(p.quoted())
	case p.is("*"):
		return every{}
	case p.is("?"):
		return filtered{p.filter()}
	case c == '-' || c == ':' || '0' <= c && c <= '9':
		return p.position()
	}
	p.fail("expected a key in quotes, a number, a slice, a star or a filter")
	return every{}
}

// position reads an index or a slice.
func (p *pathParser) position() selector {
	s := sliced{step: 1}
	s.start, s.hasStart = p.number()
	p.blank()
	if !p.is(":") {
		if !s.hasStart {
			p.fail("expected a number")
		}
		return indexed(s.start)
	}
	p.blank()
	s.end, s.hasEnd = p.number()
	p.blank()
	if p.is(":") {
		p.blank()
		if n, ok := p.number(); ok {
			s.step = n
		}
	}
	return s
}

// maxPosition is beyond any element, so that larger numbers may be cut to it.
const maxPosition = 1 << 40

// number reads an integer, if one is next.
func (p *pathParser) number() (n int, ok bool) {
	negative := p.is("-")
	for ; '0' <= p.peek() && p.peek() <= '9'; p.at++ {
		n, ok = min(n*10+int(p.peek()-'0'), maxPosition), true
	}
	if negative && !ok {
		p.fail("expected a digit")
	}
	if negative {
		n = -n
	}
	return n, ok
}

// quoted reads a string in single or double quotes, with the escapes of JSON and that of
// the quote itself.
func (p *pathParser) quoted() string {
	quote, start := p.peek(), p.at
	inner := []byte{'"'}
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			return p.unescape(append(inner, '"'), start)
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			if next := p.text[p.at]; next == '\'' {
				inner = append(inner, next)
			} else {
				inner = append(inner, c, next)
			}
		case c == '"':
			inner = append(inner, '\\', c)
		default:
			inner = append(inner, c)
		}
	}
	p.fail("a quote is not closed")
	return ""
}

// unescape reads the string of a JSON text that began at start.
func (p *pathParser) unescape(text []byte, start int) string {
	inner := parser{text: text}
	s, err := inner.string()
	if err != nil && p.err == nil {
		p.err = &PathError{"not a string", start}
		p.at = len(p.text)
	}
	return s
}

// pattern compiles a regular expression, whose size it limits.
func (p *pathParser) pattern(text string) *regexp.Regexp {
	re, size, err := compilePattern(text, p.mostProgram-p.program)
	if err != nil {
		p.fail(err.Error())
	}
	p.program += size
	return re
}
