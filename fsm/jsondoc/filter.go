package jsondoc

import (
	"regexp"
	"strings"
)

// condition is a filter's test of a value.
type condition interface {
	holds(s *search, v Value) bool
}

type (
	// either holds if one of its parts does, both if all do, not if its part doesn't.
	either []condition
	both   []condition
	not    struct{ condition }
	// exists holds if its path finds something, or, of a constant, if that is true.
	exists struct{ operand }
	// compared holds if the operator does between the two sides.
	compared struct {
		op          string
		left, right operand
		pattern     *regexp.Regexp // of =~ with a constant on the right
		program     int            // its size
	}
)

// operand is a side of a comparison: a constant, or what a path finds.
type operand struct {
	constant Value
	path     *Path
	absolute bool // the path begins at the root, not at the value in question
}

// filter reads the condition behind a question mark.
func (p *pathParser) filter() condition {
	p.blank()
	return p.either()
}

func (p *pathParser) either() condition {
	all := either{p.both()}
	for p.blank(); p.is("||"); p.blank() {
		all = append(all, p.both())
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

func (p *pathParser) both() condition {
	all := both{p.single()}
	for p.blank(); p.is("&&"); p.blank() {
		all = append(all, p.single())
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// single reads a condition without && and ||, or one in parentheses.
func (p *pathParser) single() condition {
	if p.nesting++; p.nesting > maxNesting {
		p.fail("conditions are nested too deeply")
	}
	defer func() { p.nesting-- }()
	p.blank()
	switch {
	case p.err != nil:
		return both{}
	case p.is("!"):
		return not{p.single()}
	case p.is("("):
		c := p.either()
		if p.blank(); !p.is(")") {
			p.fail("expected a closing parenthesis")
		}
		return c
	}
	return p.comparison()
}

// operators are the operators of comparisons, longer ones first.
var operators = []string{"==", "!=", "<=", ">=", "=~", "<", ">"}

func (p *pathParser) comparison() condition {
	c := compared{left: p.operand()}
	p.blank()
	for _, op := range operators {
		if p.is(op) {
			c.op = op
			break
		}
	}
	if c.op == "" {
		return exists{c.left}
	}
	p.blank()
	c.right = p.operand()
	if text, ok := c.right.constant.(String); ok && c.op == "=~" {
		before := p.program
		c.pattern = p.pattern(string(text))
		c.program = p.program - before
	}
	return c
}

// operand reads a side of a comparison.
func (p *pathParser) operand() operand {
	switch c := p.peek(); {
	case p.is("@"):
		return operand{path: &Path{steps: p.steps()}}
	case p.is("$"):
		return operand{path: &Path{steps: p.steps()}, absolute: true}
	case c == '\'' || c == '"':
		return operand{constant: String(p.quoted())}
	case c == '-' || '0' <= c && c <= '9':
		return operand{constant: p.constant()}
	}
	for word, v := range constants { // unordered: no word begins another
		if p.is(word) {
			return operand{constant: v}
		}
	}
	p.fail("expected a path or a constant")
	return operand{constant: Null{}}
}

// constants are those with a name.
var constants = map[string]Value{"true": Bool(true), "false": Bool(false), "null": Null{}}

// constant reads a number.
func (p *pathParser) constant() Value {
	end := p.at
	for end < len(p.text) && strings.IndexByte("+-.eE0123456789", p.text[end]) >= 0 {
		end++
	}
	inner := parser{text: []byte(p.text[p.at:end])}
	v, err := inner.number()
	if err != nil || inner.at < len(inner.text) {
		p.fail("not a number")
		return Null{}
	}
	p.at = end
	return v
}
