package search

import (
	"regexp"
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
	if err := p.count(); err != nil {
		return nil, err
	}
	o, ok := v.(*jsondoc.Object)
	if !ok {
		return p.smart(f, v)
	}
	b := &boolean{}
	boost := 1.0
	var r *bounds
	err := members(o, func(op string, v jsondoc.Value) (err error) {
		if err := p.count(); err != nil {
			return err
		}
		var n node
		switch op {
		case "$boost":
			boost, err = boostOf(v)
			return err
		case "$gt", "$gte", "$lt", "$lte":
			if r == nil {
				r = &bounds{f: f}
				n = r
			}
			err = r.bound(op, v)
		case "$ne":
			n, err = p.equal(f, op, v)
			if err == nil {
				b.mustNot = append(b.mustNot, n)
			}
			return err
		default:
			n, err = p.operator(f, op, v)
		}
		if n != nil && err == nil {
			b.require(n)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(b.must) == 0 && len(b.mustNot) == 0:
		return nil, search.Errorf("Field '%s' needs a value or an operator", name)
	}
	return boosted(b.plain(), boost), nil
}

func wrongValue(f *field, op string, want string, v jsondoc.Value) error {
	return search.Errorf("Field '%s': %s needs %s, got %s", f.Name, op, want, v.Kind())
}

func (p *parser) operator(f *field, op string, v jsondoc.Value) (node, error) {
	text := f.Type == search.Text
	switch op {
	case "$smart":
		return p.smart(f, v)
	case "$eq":
		return p.equal(f, op, v)
	case "$in":
		a, ok := v.(*jsondoc.Array)
		if !ok {
			return nil, wrongValue(f, op, "an array", v)
		}
		b := &boolean{}
		var err error
		a.All(func(_ int, e jsondoc.Value) bool {
			var n node
			if err = p.count(); err == nil {
				n, err = p.equal(f, op, e)
			}
			b.should = append(b.should, n)
			return err == nil
		})
		return b, err
	case "$phrase", "$fuzzy", "$regex", "$contains":
		if !text {
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
		s, ok := v.(jsondoc.String)
		if !ok {
			return nil, wrongValue(f, op, "a string", v)
		}
		b := &boolean{}
		list := f.analyzer.tokens(string(s))
		for i, t := range list {
			if i == len(list)-1 {
				b.must = append(b.must, &near{f: f, z: fuzzy{word: []rune(t.term), prefix: true}})
			} else {
				b.must = append(b.must, &word{f: f, text: t.term})
			}
		}
		return b, nil
	}
	s, ok := v.(jsondoc.String)
	switch {
	case !ok:
		return nil, wrongValue(f, op, "a string", v)
	case len(s) > maxRegex:
		return nil, search.Errorf("Field '%s': $regex has at most %d bytes", f.Name, maxRegex)
	}
	re, err := regexp.Compile(`^(?:` + string(s) + `)$`)
	if err != nil {
		return nil, search.Errorf("Field '%s': invalid $regex: %v", f.Name, err)
	}
	return &pattern{f: f, re: re}, nil
}

// equal is $eq.
func (p *parser) equal(f *field, op string, v jsondoc.Value) (node, error) {
	if f.numbers != nil {
		n, ok := number(f.Type, v)
		if !ok {
			if want, fits := f.kindOf(v); fits { // of the kind, but no value of the type: no document has it
				return &boolean{}, nil
			} else {
				return nil, wrongValue(f, op, want, v)
			}
		}
		return &bounds{f: f, low: n, high: n, hasLow: true, hasHigh: true}, nil
	}
	s, ok := v.(jsondoc.String)
	if !ok {
		return nil, wrongValue(f, op, "a string", v)
	}
	if f.Type != search.Text {
		return &word{f: f, text: strings.TrimSuffix(string(s), suffixOf(f))}, nil
	}
	return phraseOf(f, terms(f.analyzer.tokens(string(s))), 0), nil
}

// suffixOf is what the path of a facet may end with in a filter.
func suffixOf(f *field) string {
	if f.Type == search.Facet {
		return "/"
	}
	return ""
}

// kindOf is what a value of a field with numbers must be, and whether v is that.
func (f *field) kindOf(v jsondoc.Value) (want string, fits bool) {
	switch f.Type {
	case search.Bool:
		return "true or false", false
	case search.Date:
		return "a time as in RFC 3339", false
	}
	switch v.(type) {
	case jsondoc.Int, jsondoc.Uint, jsondoc.Double:
		return "", true
	}
	return "a number", false
}
