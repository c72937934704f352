package searchindex

import (
	"math"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
)

// field reads the conditions on a field.
func (p *parser) field(name string, v jsondoc.Value) (node, error) {
	f := p.x.byPath[name]
	if f == nil {
		return nil, search.Errorf("Unknown field: %s", name)
	}
	if err := p.count(1); err != nil {
		return nil, err
	}
	o, ok := v.(*jsondoc.Object)
	if !ok {
		return p.smart(f, v)
	}
	c := &conditions{p: p, f: f, b: &boolean{}, boost: 1}
	err := members(o, c.add)
	switch {
	case err != nil:
		return nil, err
	case len(c.b.must) == 0 && len(c.b.mustNot) == 0:
		return nil, search.Errorf("Field '%s' needs a value or an operator", name)
	}
	return boosted(c.b.plain(), c.boost), nil
}

// conditions holds a filter's conditions on one field.
type conditions struct {
	p     *parser
	f     *field
	b     *boolean
	r     *bounds // nil until there is a bound: all of them are one condition
	boost float64
}

// add takes in an operator.
func (c *conditions) add(op string, v jsondoc.Value) error {
	err := c.p.count(1)
	if err != nil {
		return err
	}
	switch op {
	case "$boost":
		c.boost, err = boostOf(v)
		return err
	case "$gt", "$gte", "$lt", "$lte":
		return c.bound(op, v)
	}
	n, err := c.p.operator(c.f, op, v)
	switch {
	case err != nil:
	case op == "$ne":
		c.b.mustNot = append(c.b.mustNot, n)
	default:
		c.b.require(n)
	}
	return err
}

// bound takes in one end of the values that match.
func (c *conditions) bound(op string, v jsondoc.Value) error {
	if c.r == nil {
		c.r = &bounds{f: c.f, high: math.MaxUint64}
		c.b.require(c.r)
	}
	return c.r.bound(op, v)
}

func wrongValue(f *field, op string, want string, v jsondoc.Value) error {
	return search.Errorf("Field '%s': %s needs %s, got %s", f.Name, op, want, v.Kind())
}

func (p *parser) operator(f *field, op string, v jsondoc.Value) (node, error) {
	switch op {
	case "$smart":
		return p.smart(f, v)
	case "$eq", "$ne": // the caller negates
		return p.equal(f, op, v)
	case "$in":
		return p.in(f, v)
	case "$phrase", "$fuzzy", "$regex", "$contains":
		if f.Type != search.Text {
			return nil, search.Errorf("Field '%s' is %s and has no operator %s", f.Name, f.Type, op)
		}
	default:
		return nil, search.Error("Unknown field operator: " + op)
	}
	switch op {
	case "$phrase":
		return p.phrase(f, v)
	case "$fuzzy":
		return p.fuzzy(f, v)
	case "$contains":
		return contains(f, v)
	}
	return p.regex(f, v)
}

// in is $in: equal to one of several values.
func (p *parser) in(f *field, v jsondoc.Value) (node, error) {
	a, ok := v.(*jsondoc.Array)
	if !ok {
		return nil, wrongValue(f, "$in", "an array", v)
	}
	b := &boolean{}
	var err error
	a.All(func(_ int, e jsondoc.Value) bool {
		var n node
		if err = p.count(1); err == nil {
			n, err = p.equal(f, "$in", e)
		}
		b.should = append(b.should, n)
		return err == nil
	})
	return b, err
}

// contains is $contains: all words, of which the last may be a beginning.
func contains(f *field, v jsondoc.Value) (node, error) {
	s, ok := v.(jsondoc.String)
	if !ok {
		return nil, wrongValue(f, "$contains", "a string", v)
	}
	b := &boolean{}
	list := f.analyzer.tokens(string(s))
	for i, t := range list {
		if i < len(list)-1 {
			b.must = append(b.must, &word{f: f, text: t})
		} else {
			b.must = append(b.must, &near{f: f, z: fuzzy{word: []rune(t), prefix: true}})
		}
	}
	return b, nil
}

// regex is $regex: a term that matches as a whole. Where terms are in lower case the case of the pattern does not count.
func (p *parser) regex(f *field, v jsondoc.Value) (node, error) {
	s, ok := v.(jsondoc.String)
	switch {
	case !ok:
		return nil, wrongValue(f, "$regex", "a string", v)
	case len(s) > maxRegex:
		return nil, search.Errorf("Field '%s': $regex has at most %d bytes", f.Name, maxRegex)
	}
	size, err := p.programs.add(string(s))
	if err == errProgram {
		return nil, err
	}
	re, err := compileTerm(string(s), !f.analyzer.whole)
	if err != nil {
		return nil, search.Errorf("Field '%s': invalid $regex: %v", f.Name, err)
	}
	return &pattern{f: f, re: re, size: size}, nil
}

// compileTerm compiles the pattern of a whole term. The pattern is parsed by itself, so that no parenthesis of it ends the
// anchors around it.
func compileTerm(text string, lower bool) (*regexp.Regexp, error) {
	flags := syntax.Perl
	if lower {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, err
	}
	if lower {
		lowerDottedI(tree)
	}
	return regexp.Compile(`^(?:` + tree.String() + `)$`)
}

// dottedI is the one letter whose lower case is not among its case foldings.
const dottedI = 'İ'

// lowerDottedI lets a pattern without regard to case mean the lower case of dottedI too.
func lowerDottedI(tree *syntax.Regexp) {
	switch {
	case tree.Op == syntax.OpLiteral:
		for i, r := range tree.Rune {
			if r == dottedI {
				tree.Rune[i] = 'i'
			}
		}
	case tree.Op == syntax.OpCharClass && tree.Flags&syntax.FoldCase != 0:
		for i := 0; i+1 < len(tree.Rune); i += 2 {
			if tree.Rune[i] <= dottedI && dottedI <= tree.Rune[i+1] {
				tree.Rune = append(tree.Rune, 'I', 'I', 'i', 'i')
				break
			}
		}
	}
	for _, sub := range tree.Sub {
		lowerDottedI(sub)
	}
}

// equal is $eq.
func (p *parser) equal(f *field, op string, v jsondoc.Value) (node, error) {
	if f.numbers != nil {
		n, ok := number(f.Type, v)
		if want, fits := f.kindOf(v); !ok && fits { // of the kind, but no value of the type: no document has it
			return &boolean{}, nil
		} else if !ok {
			return nil, wrongValue(f, op, want, v)
		}
		return &bounds{f: f, low: n, high: n}, nil
	}
	s, ok := v.(jsondoc.String)
	if !ok {
		return nil, wrongValue(f, op, "a string", v)
	}
	if f.Type != search.Text {
		text := string(s)
		if f.Type == search.Facet {
			text = strings.TrimSuffix(text, "/")
		}
		return &word{f: f, text: text}, nil
	}
	return phraseOf(f, f.analyzer.tokens(string(s)), 0), nil
}

// kindOf returns the kind of value that a numeric field requires, and whether v fits it.
func (f *field) kindOf(v jsondoc.Value) (want string, fits bool) {
	switch f.Type {
	case search.Bool:
		return "true or false", false
	case search.Date:
		return "a time as in RFC 3339", false
	}
	_, fits = float(v)
	return "a number", fits
}
