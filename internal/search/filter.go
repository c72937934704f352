package search

import (
	"regexp"
	"strings"
	"unicode/utf8"

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

func terms(list []token) (all []string) {
	for _, t := range list {
		all = append(all, t.term)
	}
	return all
}

// phraseOf is a phrase, which of one word is that word, and of none nothing.
func phraseOf(f *field, list []string, slop int) node {
	switch len(list) {
	case 0:
		return &boolean{}
	case 1:
		return &word{f: f, text: list[0]}
	}
	return &phrase{f: f, terms: list, slop: slop}
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

const maxSlop = 1000

func (p *parser) phrase(f *field, v jsondoc.Value) (node, error) {
	text, others, err := options(f, "$phrase", v, "query", "slop", "prefix")
	if err != nil {
		return nil, err
	}
	slop, prefix := 0, false
	if v, ok := others["slop"]; ok {
		if slop, err = small(f, "slop", v, maxSlop); err != nil {
			return nil, err
		}
	}
	if v, ok := others["prefix"]; ok {
		if prefix, err = flag(f, "prefix", v); err != nil {
			return nil, err
		}
	}
	list := terms(f.analyzer.tokens(text))
	switch {
	case prefix && slop > 0:
		return nil, search.Errorf("Field '%s': $phrase can't have both slop and prefix", f.Name)
	case !prefix:
		return phraseOf(f, list, slop), nil
	case len(list) == 0:
		return &boolean{}, nil
	}
	last := lastWord(f, text, list[len(list)-1])
	if len(list) == 1 {
		return &near{f: f, z: fuzzy{word: []rune(last), prefix: true}}, nil
	}
	list[len(list)-1] = last
	return &phrase{f: f, terms: list, prefix: true}, nil
}

// lastWord is the last word of a text as a beginning: without its stem's changes, which only fit whole words, unless these
// only cut it.
func lastWord(f *field, text, stemmed string) string {
	if f.analyzer.whole || f.analyzer.stem == nil {
		return stemmed
	}
	plain := analyzer{}.tokens(text)
	if last := plain[len(plain)-1].term; !strings.HasPrefix(last, stemmed) {
		return last
	}
	return stemmed
}

func (p *parser) fuzzy(f *field, v jsondoc.Value) (node, error) {
	text, others, err := options(f, "$fuzzy", v, "term", "distance", "transpositionCostOne", "prefix")
	if err != nil {
		return nil, err
	}
	z := fuzzy{distance: 1, swaps: true}
	if v, ok := others["distance"]; ok {
		if z.distance, err = small(f, "distance", v, 2); err != nil {
			return nil, err
		}
	}
	if v, ok := others["transpositionCostOne"]; ok {
		if z.swaps, err = flag(f, "transpositionCostOne", v); err != nil {
			return nil, err
		}
	}
	if v, ok := others["prefix"]; ok {
		if z.prefix, err = flag(f, "prefix", v); err != nil {
			return nil, err
		}
	}
	b := &boolean{}
	for _, t := range f.analyzer.tokens(text) {
		z.word = []rune(t.term)
		b.must = append(b.must, &near{f: f, z: z})
	}
	return b.plain(), nil
}

// The weights of $smart.
const (
	smartPhrase = 8
	smartSlop   = 4
	smartTerm   = 3
	slopOfSmart = 2
)

// smart is a plain value.
func (p *parser) smart(f *field, v jsondoc.Value) (node, error) {
	if f.Type != search.Text {
		return p.equal(f, "$smart", v)
	}
	s, ok := v.(jsondoc.String)
	if !ok {
		return nil, wrongValue(f, "$smart", "a string", v)
	}
	text := string(s)
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return phraseOf(f, terms(f.analyzer.tokens(text[1:len(text)-1])), 0), nil
	}
	list := terms(f.analyzer.tokens(text))
	if p.clauses += 2 * len(list); p.clauses > maxClauses {
		return nil, search.Errorf("Invalid filter: more than %d conditions", maxClauses)
	}
	b := &boolean{}
	if len(list) > 1 {
		b.should = append(b.should, boosted(phraseOf(f, list, 0), smartPhrase), boosted(phraseOf(f, list, slopOfSmart), smartSlop))
	}
	for i, t := range list {
		letters := []rune(t)
		b.should = append(b.should, boosted(&word{f: f, text: t}, smartTerm), &near{f: f, z: fuzzy{word: letters, distance: 1, swaps: true}})
		if i == len(list)-1 {
			b.should = append(b.should, &near{f: f, z: fuzzy{word: letters, distance: 1, swaps: true, prefix: true}})
		}
	}
	return b, nil
}

// bound takes one of $gt, $gte, $lt and $lte.
func (r *bounds) bound(op string, v jsondoc.Value) error {
	f := r.f
	if f.Type == search.Text || f.Type == search.Facet || f.Type == search.Bool {
		return search.Errorf("Field '%s' is %s and has no operator %s", f.Name, f.Type, op)
	}
	if f.Type == search.Keyword {
		s, ok := v.(jsondoc.String)
		if !ok || !utf8.ValidString(string(s)) {
			return wrongValue(f, op, "a string", v)
		}
		r.tests = append(r.tests, textBound{op, string(s)})
		return nil
	}
	return r.number(op, v)
}
