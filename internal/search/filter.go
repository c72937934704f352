package search

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
)

// The bounds of filters.
const (
	maxDepth   = 32   // of objects and arrays within each other
	maxClauses = 1024 // conditions of a filter
	maxRegex   = 1000 // bytes of a pattern
)

// parser reads a filter for an index.
type parser struct {
	x       *index
	clauses int
}

// parseFilter reads a filter.
func (x *index) parseFilter(text []byte) (node, error) {
	v, err := jsondoc.Parse(text)
	if err != nil {
		return nil, search.Errorf("Invalid filter: %v", err)
	}
	o, ok := v.(*jsondoc.Object)
	if !ok {
		return nil, search.Error("Invalid filter: expected a JSON object, got " + v.Kind().String())
	}
	if jsondoc.Depth(v) > maxDepth {
		return nil, search.Errorf("Invalid filter: more than %d levels", maxDepth)
	}
	if o.Len() == 0 {
		return all{}, nil
	}
	p := &parser{x: x}
	n, err := p.object(o)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (p *parser) count() error {
	if p.clauses++; p.clauses > maxClauses {
		return search.Errorf("Invalid filter: more than %d conditions", maxClauses)
	}
	return nil
}

// members calls fn for the members of an object until it fails.
func members(o *jsondoc.Object, fn func(key string, v jsondoc.Value) error) (err error) {
	o.All(func(key string, v jsondoc.Value) bool {
		err = fn(key, v)
		return err == nil
	})
	return err
}

func boostOf(v jsondoc.Value) (float64, error) {
	switch n := v.(type) {
	case jsondoc.Int:
		return float64(n), nil
	case jsondoc.Uint:
		return float64(n), nil
	case jsondoc.Double:
		return float64(n), nil
	}
	return 0, search.Error("$boost must be a number, got " + v.Kind().String())
}

// object reads an object at the boolean level.
func (p *parser) object(o *jsondoc.Object) (node, error) {
	if o.Len() == 0 {
		return all{}, nil
	}
	b := &boolean{}
	boost := 1.0
	err := members(o, func(key string, v jsondoc.Value) (err error) {
		if key == "$boost" {
			boost, err = boostOf(v)
			return err
		}
		if !strings.HasPrefix(key, "$") {
			n, err := p.field(key, v)
			if err == nil {
				b.require(n)
			}
			return err
		}
		var list []node
		switch key {
		case "$must", "$and", "$should", "$or", "$mustNot":
			list, err = p.list(key, v)
		default:
			return search.Error("Unknown operator: " + key)
		}
		if err != nil {
			return err
		}
		switch key {
		case "$must", "$and":
			for _, n := range list {
				b.require(n)
			}
		case "$should":
			b.should = append(b.should, list...)
		case "$or":
			b.require(&boolean{should: list})
		case "$mustNot":
			b.mustNot = append(b.mustNot, list...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return boosted(b, boost), nil
}

// list reads what follows $must and its like: an object of conditions, or an array of filters.
func (p *parser) list(key string, v jsondoc.Value) (list []node, err error) {
	add := func(o *jsondoc.Object) error {
		if err := p.count(); err != nil {
			return err
		}
		n, err := p.object(o)
		list = append(list, n)
		return err
	}
	switch v := v.(type) {
	case *jsondoc.Object:
		boost := 1.0
		err = members(v, func(key string, m jsondoc.Value) (err error) {
			if key == "$boost" {
				boost, err = boostOf(m)
				return err
			}
			return add(jsondoc.ObjectOf(jsondoc.Member{Key: key, Value: m}))
		})
		for i := range list {
			list[i] = boosted(list[i], boost)
		}
	case *jsondoc.Array:
		v.All(func(i int, e jsondoc.Value) bool {
			o, ok := e.(*jsondoc.Object)
			if !ok {
				err = search.Errorf("%s must have objects, got %s at %d", key, e.Kind(), i)
				return false
			}
			err = add(o)
			return err == nil
		})
	default:
		err = search.Errorf("%s must be an object or an array of objects, got %s", key, v.Kind())
	}
	return list, err
}

// options reads {value, ...}: the text, and what else there is.
func options(f *field, op string, v jsondoc.Value, names ...string) (text string, others map[string]jsondoc.Value, err error) {
	switch v := v.(type) {
	case jsondoc.String:
		return string(v), nil, nil
	case *jsondoc.Object:
		others = map[string]jsondoc.Value{}
		found := false
		err = members(v, func(key string, m jsondoc.Value) error {
			if key == "value" || key == names[0] {
				s, ok := m.(jsondoc.String)
				if !ok {
					return wrongValue(f, op+"."+key, "a string", m)
				}
				text, found = string(s), true
				return nil
			}
			for _, n := range names[1:] {
				if key == n {
					others[key] = m
					return nil
				}
			}
			return search.Errorf("Field '%s': %s has no parameter %s", f.Name, op, key)
		})
		if err == nil && !found {
			err = search.Errorf("Field '%s': %s needs a value", f.Name, op)
		}
		return text, others, err
	}
	return "", nil, wrongValue(f, op, "a string or an object", v)
}

// small reads a whole number from 0 to most.
func small(f *field, name string, v jsondoc.Value, most int64) (int, error) {
	n, ok := v.(jsondoc.Int)
	if !ok || int64(n) < 0 || int64(n) > most {
		return 0, search.Errorf("Field '%s': %s must be a whole number from 0 to %d", f.Name, name, most)
	}
	return int(n), nil
}

func flag(f *field, name string, v jsondoc.Value) (bool, error) {
	b, ok := v.(jsondoc.Bool)
	if !ok {
		return false, wrongValue(f, name, "true or false", v)
	}
	return bool(b), nil
}
