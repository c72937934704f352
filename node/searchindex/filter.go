package searchindex

import (
	"slices"
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
	programs
}

// parseFilter reads a filter.
func (in *index) parseFilter(text []byte) (node, error) {
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
	return (&parser{x: in}).object(o)
}

// count adds n conditions to those of the filter.
func (p *parser) count(n int) error {
	if p.clauses += n; p.clauses > maxClauses {
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
	if f, ok := float(v); ok {
		return f, nil
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
		switch {
		case key == "$boost":
			boost, err = boostOf(v)
			return err
		case strings.HasPrefix(key, "$"):
			return p.clause(b, key, v)
		}
		n, err := p.field(key, v)
		if err == nil {
			b.require(n)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return boosted(b, boost), nil
}

// clause takes a list of filters into b as its operator says.
func (p *parser) clause(b *boolean, key string, v jsondoc.Value) error {
	if !slices.Contains([]string{"$must", "$and", "$should", "$or", "$mustNot"}, key) {
		return search.Error("Unknown operator: " + key)
	}
	list, err := p.list(key, v)
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
}

// list reads what follows $must and its like: an object of conditions, or an array of filters.
func (p *parser) list(key string, v jsondoc.Value) (list []node, err error) {
	switch v := v.(type) {
	case *jsondoc.Object:
		return p.listOfMembers(v)
	case *jsondoc.Array:
		v.All(func(i int, e jsondoc.Value) bool {
			o, ok := e.(*jsondoc.Object)
			if !ok {
				err = search.Errorf("%s must have objects, got %s at %d", key, e.Kind(), i)
				return false
			}
			var n node
			n, err = p.filter(o)
			list = append(list, n)
			return err == nil
		})
	default:
		err = search.Errorf("%s must be an object or an array of objects, got %s", key, v.Kind())
	}
	return list, err
}

// listOfMembers reads each member of an object as a filter.
func (p *parser) listOfMembers(o *jsondoc.Object) (list []node, err error) {
	boost := 1.0
	err = members(o, func(key string, v jsondoc.Value) (err error) {
		if key == "$boost" {
			boost, err = boostOf(v)
			return err
		}
		n, err := p.filter(jsondoc.ObjectOf(jsondoc.Member{Key: key, Value: v}))
		list = append(list, n)
		return err
	})
	for i := range list {
		list[i] = boosted(list[i], boost)
	}
	return list, err
}

// filter reads a filter within another one.
func (p *parser) filter(o *jsondoc.Object) (node, error) {
	if err := p.count(1); err != nil {
		return nil, err
	}
	return p.object(o)
}

// options reads {value, ...}: the text, and what else there is.
func options(f *field, op string, v jsondoc.Value, names ...string) (text string, others map[string]jsondoc.Value, err error) {
	switch v := v.(type) {
	case jsondoc.String:
		return string(v), nil, nil
	case *jsondoc.Object:
		return optionMembers(f, op, v, names)
	}
	return "", nil, wrongValue(f, op, "a string or an object", v)
}

// optionMembers reads the members of an object: the text is in "value" or under the first of the names.
func optionMembers(f *field, op string, o *jsondoc.Object, names []string) (text string, others map[string]jsondoc.Value, err error) {
	others = map[string]jsondoc.Value{}
	found := false
	err = members(o, func(key string, m jsondoc.Value) error {
		switch {
		case key == "value" || key == names[0]:
			s, ok := m.(jsondoc.String)
			if !ok {
				return wrongValue(f, op+"."+key, "a string", m)
			}
			text, found = string(s), true
		case slices.Contains(names[1:], key):
			others[key] = m
		default:
			return search.Errorf("Field '%s': %s has no parameter %s", f.Name, op, key)
		}
		return nil
	})
	if err == nil && !found {
		err = search.Errorf("Field '%s': %s needs a value", f.Name, op)
	}
	return text, others, err
}

// small reads an option that is a whole number from 0 to most into to, if it is there.
func small(f *field, others map[string]jsondoc.Value, name string, most int64, to *int) error {
	v, given := others[name]
	n, ok := v.(jsondoc.Int)
	switch {
	case !given:
		return nil
	case !ok || int64(n) < 0 || int64(n) > most:
		return search.Errorf("Field '%s': %s must be a whole number from 0 to %d", f.Name, name, most)
	}
	*to = int(n)
	return nil
}

// flag reads an option that is true or false into to, if it is there.
func flag(f *field, others map[string]jsondoc.Value, name string, to *bool) error {
	v, given := others[name]
	b, ok := v.(jsondoc.Bool)
	switch {
	case !given:
		return nil
	case !ok:
		return wrongValue(f, name, "true or false", v)
	}
	*to = bool(b)
	return nil
}
