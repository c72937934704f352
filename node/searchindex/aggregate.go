package searchindex

import (
	"cmp"
	"slices"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// The bounds of aggregations.
const (
	maxBuckets      = 65_536 // of one request
	maxAggregations = 256    // of one request, at all levels
)

// aggregation is one alias of a request.
type aggregation struct {
	alias, op string
	f         *field
	args      *arguments
	subs      []aggregation

	*budget
}

// aggregator computes aggregations of an index whose lock is held.
type aggregator struct {
	*budget
	x       *index
	count   int // aggregations read
	buckets int // buckets made
}

// operator is a kind of aggregation: which fields it takes, whether others may stand below, and what computes it.
type operator struct {
	types   []search.FieldType
	buckets bool
	run     func(g *aggregator, a *aggregation, docs []uint32) (reply.Value, error)
}

// operators maps the names of all operators. init fills it, because their functions refer to it.
var operators map[string]operator

func init() {
	numbers := []search.FieldType{search.U64, search.I64, search.F64, search.Date}
	flags := append(slices.Clone(numbers), search.Bool)
	words := append(slices.Clone(flags), search.Keyword)
	operators = map[string]operator{
		"$avg": {flags, false, single}, "$sum": {flags, false, single}, "$min": {flags, false, single}, "$max": {flags, false, single},
		"$count": {words, false, counted}, "$cardinality": {words, false, cardinality},
		"$stats": {flags, false, stats}, "$extendedStats": {numbers, false, extendedStats}, "$percentiles": {numbers, false, percentiles},
		"$terms": {words, true, termBuckets}, "$range": {numbers, true, rangeBuckets}, "$histogram": {numbers, true, histogram},
		"$dateHistogram": {[]search.FieldType{search.Date}, true, histogram},
		"$facet":         {[]search.FieldType{search.Facet}, false, facet}, "$composite": {nil, true, composite},
	}
}

func (in *index) aggregate(filter, aggregations []byte, now env.Time, b *budget) (v reply.Value, err error) {
	n, err := in.parseFilter(filter)
	if err != nil {
		return v, err
	}
	o, err := aggregationsOf(aggregations)
	if err != nil {
		return v, err
	}
	g := &aggregator{budget: b, x: in}
	list, err := g.parse(o, true)
	if err != nil {
		return v, err
	}
	s := &searcher{budget: b, x: in, now: now}
	out, err := g.run(list, s.alive(s.eval(n)).docs)
	return reply.Map(out...), cmp.Or(b.err, err)
}

// aggregationsOf reads the object of all aggregations.
func aggregationsOf(text []byte) (*jsondoc.Object, error) {
	v, err := jsondoc.Parse(text)
	if err != nil {
		return nil, search.Errorf("Invalid aggregations: %v", err)
	}
	o, ok := v.(*jsondoc.Object)
	if !ok || o.Len() == 0 {
		return nil, search.Error("Invalid aggregations: expected a JSON object with at least one aggregation")
	}
	if jsondoc.Depth(v) > maxDepth {
		return nil, search.Errorf("Invalid aggregations: more than %d levels", maxDepth)
	}
	return o, nil
}

// parse reads aggregations.
func (ag *aggregator) parse(o *jsondoc.Object, top bool) (list []aggregation, err error) {
	err = members(o, func(alias string, v jsondoc.Value) error {
		if ag.count++; ag.count > maxAggregations {
			return search.Errorf("Invalid aggregations: more than %d", maxAggregations)
		}
		spec, ok := v.(*jsondoc.Object)
		if !ok {
			return search.Errorf("Aggregation '%s' must be a JSON object", alias)
		}
		a, err := ag.aggregation(alias, spec, top)
		list = append(list, a)
		return err
	})
	return list, err
}

// aggregation reads one aggregation with its field and those below it.
func (ag *aggregator) aggregation(alias string, spec *jsondoc.Object, top bool) (a aggregation, err error) {
	a.alias, a.budget = alias, ag.budget
	subs, err := a.operator(spec)
	if err != nil {
		return a, err
	}
	op, known := operators[a.op]
	switch {
	case a.op == "":
		return a, search.Errorf("Aggregation '%s' has no operator", alias)
	case !known:
		return a, search.Errorf("Aggregation '%s' has the unknown operator %s", alias, a.op)
	case a.op == "$facet" && !top:
		return a, search.Errorf("Aggregation '%s': $facet can't stand below $aggs", alias)
	case subs != nil && !op.buckets:
		return a, search.Errorf("Aggregation '%s': %s can't have $aggs", alias, a.op)
	}
	if op.types != nil {
		err = ag.field(&a, op.types)
	}
	if subs != nil && err == nil {
		a.subs, err = ag.parse(subs, false)
	}
	return a, err
}

// operator reads the operator of an aggregation with its arguments, and returns what stands below it.
func (a *aggregation) operator(spec *jsondoc.Object) (subs *jsondoc.Object, err error) {
	err = members(spec, func(key string, v jsondoc.Value) error {
		o, ok := v.(*jsondoc.Object)
		switch {
		case !ok:
			return search.Errorf("Aggregation '%s': %s must be a JSON object", a.alias, key)
		case key == "$aggs":
			subs = o
		case a.op != "":
			return search.Errorf("Aggregation '%s' has more than one operator: %s and %s", a.alias, a.op, key)
		default:
			a.op, a.args = key, newArguments(a.alias, o)
		}
		return nil
	})
	return subs, err
}

// field reads the field of an aggregation.
func (ag *aggregator) field(a *aggregation, types []search.FieldType) error {
	name := a.args.text("field", "")
	if name == "" {
		return search.Errorf("Aggregation '%s' is missing required 'field' property", a.alias)
	}
	a.f = ag.x.byPath[name]
	switch {
	case a.f == nil:
		return search.Errorf("Unknown field: %s", name)
	case !slices.Contains(types, a.f.Type):
		return search.Errorf("Aggregation '%s' operator '%s' can't take field '%s', which is %s", a.alias, a.op, name, a.f.Type)
	case !a.f.Column():
		return search.Errorf("Aggregation '%s' operator '%s' requires field '%s' to be FAST", a.alias, a.op, name)
	}
	return nil
}

// run computes aggregations of documents: pairs of alias and result.
func (ag *aggregator) run(list []aggregation, docs []uint32) (out []reply.Value, err error) {
	for i := range list {
		a := &list[i]
		if !ag.spend(1 + int64(len(docs))/aggregatedDocs) {
			return nil, ag.err
		}
		again := *a.args // an aggregation below buckets is run for each of them
		a.args = &again
		v, err := operators[a.op].run(ag, a, docs)
		if err == nil {
			err = a.args.done(a.op)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, reply.Bulk(a.alias), v)
	}
	return out, nil
}

// bucket makes a bucket of documents, after its key.
func (ag *aggregator) bucket(a *aggregation, docs []uint32, fields ...reply.Value) (reply.Value, error) {
	if ag.buckets++; ag.buckets > maxBuckets {
		return reply.Value{}, search.Errorf("Aggregation '%s' makes more than %d buckets", a.alias, maxBuckets)
	}
	if len(a.subs) > 0 {
		subs, err := ag.run(a.subs, docs)
		if err != nil {
			return reply.Value{}, err
		}
		fields = append(fields, subs...)
	}
	return reply.Map(fields...), nil
}

func pair(name string, v reply.Value) []reply.Value { return []reply.Value{reply.Bulk(name), v} }

// arguments reads the arguments of an aggregation. It keeps the first error.
type arguments struct {
	alias string
	o     *jsondoc.Object
	known map[string]bool
	err   error
}

func newArguments(alias string, o *jsondoc.Object) *arguments {
	return &arguments{alias: alias, o: o, known: map[string]bool{}}
}

func (a *arguments) fail(err error) {
	if a.err == nil {
		a.err = err
	}
}

func (a *arguments) wrong(name, want string, v jsondoc.Value) {
	a.fail(search.Errorf("Aggregation '%s': '%s' must be %s, got %s", a.alias, name, want, v.Kind()))
}

// get is an argument, nil if it is not there.
func (a *arguments) get(name string) jsondoc.Value {
	a.known[name] = true
	v, _ := a.o.Get(name)
	return v
}

// argument is an argument of type T, which want names. It is not ok if it is not there, or of another type, which is an error.
func argument[T jsondoc.Value](a *arguments, name, want string) (v T, ok bool) {
	given := a.get(name)
	if v, ok = given.(T); !ok && given != nil {
		a.wrong(name, want, given)
	}
	return v, ok
}

func (a *arguments) text(name, missing string) string {
	if s, ok := argument[jsondoc.String](a, name, "a string"); ok {
		return string(s)
	}
	return missing
}

func (a *arguments) number(name string) (f float64, ok bool) {
	v := a.get(name)
	if f, ok = float(v); !ok && v != nil {
		a.wrong(name, "a number", v)
	}
	return f, ok
}

// whole is a whole number from least on.
func (a *arguments) whole(name string, missing, least int) int {
	v := a.get(name)
	if v == nil {
		return missing
	}
	n, ok := v.(jsondoc.Int)
	if !ok || int64(n) < int64(least) || int64(n) > 1<<31 {
		a.fail(search.Errorf("Aggregation '%s': '%s' must be a whole number from %d on", a.alias, name, least))
		return missing
	}
	return int(n)
}

func (a *arguments) flag(name string, missing bool) bool {
	if b, ok := argument[jsondoc.Bool](a, name, "true or false"); ok {
		return bool(b)
	}
	return missing
}

// object is an argument with arguments of its own, nil if it is not there.
func (a *arguments) object(name string) *arguments {
	if o, ok := argument[*jsondoc.Object](a, name, "an object"); ok {
		return newArguments(a.alias, o)
	}
	return nil
}

// list is an array, nil if it is not there.
func (a *arguments) list(name string) (list []jsondoc.Value) {
	if array, ok := argument[*jsondoc.Array](a, name, "an array"); ok {
		list = []jsondoc.Value{}
		array.All(func(_ int, e jsondoc.Value) bool {
			list = append(list, e)
			return true
		})
	}
	return list
}

// done returns the first error, or that of an unknown argument.
func (a *arguments) done(op string) error {
	if a.err != nil {
		return a.err
	}
	return members(a.o, func(key string, _ jsondoc.Value) error {
		if !a.known[key] {
			return search.Errorf("Aggregation '%s': %s has no parameter '%s'", a.alias, op, key)
		}
		return nil
	})
}
