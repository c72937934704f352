package searchindex

import (
	"math"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// floats calls fn for every number of the documents; those without one have missing, if that is given.
func (a *aggregation) floats(docs []uint32, fn func(v float64)) {
	missing, has := a.args.number("missing")
	var one [1]uint64
	for _, doc := range docs {
		values := a.f.column.values(doc, &one)
		if len(values) == 0 && has {
			fn(missing)
		}
		for _, v := range values {
			fn(a.f.asFloat(v))
		}
	}
}

// summary accumulates the statistics of numbers.
type summary struct {
	n                      int
	min, max, sum, squares float64
}

func (a *aggregation) summarize(docs []uint32) (s summary) {
	a.floats(docs, func(v float64) {
		if s.n == 0 {
			s.min, s.max = v, v
		}
		s.n++
		s.min, s.max = min(s.min, v), max(s.max, v)
		s.sum += v
		s.squares += v * v
	})
	return s
}

// orNull is a number, null if there were no values.
func (s *summary) orNull(v float64) reply.Value {
	if s.n == 0 || math.IsNaN(v) {
		return reply.Nil()
	}
	return reply.Number(v)
}

// metric is a number of a summary by name.
func (s *summary) metric(name string) float64 {
	switch name {
	case "avg":
		return s.sum / float64(s.n)
	case "sum":
		return s.sum
	case "min":
		return s.min
	case "count":
		return float64(s.n)
	}
	return s.max
}

func single(_ *aggregator, a *aggregation, docs []uint32) (reply.Value, error) {
	s := a.summarize(docs)
	return reply.Map(pair("value", s.orNull(s.metric(strings.TrimPrefix(a.op, "$"))))...), nil
}

// has reports whether a document has a value of the field.
func (f *field) has(doc uint32) bool {
	if f.numbers != nil {
		return f.column.has.holds(doc)
	}
	return int(doc) < len(f.streams) && f.streams[doc] != nil
}

func counted(_ *aggregator, a *aggregation, docs []uint32) (reply.Value, error) {
	missing := a.args.get("missing") != nil
	n := int64(0)
	for _, doc := range docs {
		if missing || a.f.has(doc) {
			n++
		}
	}
	return reply.Map(pair("value", reply.Int(n))...), nil
}

// missingKey is the value of the argument "missing" as one of the field, false if it is not there.
func (a *aggregation) missingKey() (k bucketKey, ok bool) {
	v := a.args.get("missing")
	if v == nil {
		return k, false
	}
	if a.f.numbers == nil {
		s, fits := v.(jsondoc.String)
		if !fits {
			a.args.wrong("missing", "a string", v)
		}
		return bucketKey{text: string(s)}, fits
	}
	n, fits := number(a.f.Type, v)
	if !fits {
		a.args.wrong("missing", "a value of the field", v)
	}
	return bucketKey{number: n}, fits
}

// bucketKey is a value of a field.
type bucketKey struct {
	text   string
	number uint64
}

// keys calls fn once for every value of a document, and reports whether it has any.
func (f *field) keys(doc uint32, fn func(k bucketKey)) bool {
	if f.numbers != nil {
		var one [1]uint64
		values := f.column.values(doc, &one)
		distinct(values, func(n uint64) { fn(bucketKey{number: n}) })
		return len(values) > 0
	}
	if !f.has(doc) {
		return false
	}
	stream := f.streams[doc]
	for i, id := range stream {
		if id != gap && !slices.Contains(stream[:i], id) {
			fn(bucketKey{text: f.byID[id].text})
		}
	}
	return true
}

func cardinality(_ *aggregator, a *aggregation, docs []uint32) (reply.Value, error) {
	seen := map[bucketKey]bool{}
	missing, has := a.missingKey()
	for _, doc := range docs {
		if !a.f.keys(doc, func(k bucketKey) { seen[k] = true }) && has {
			seen[missing] = true
		}
	}
	return reply.Map(pair("value", reply.Int(int64(len(seen))))...), nil
}

func (s *summary) pairs() []reply.Value {
	return slices.Concat(pair("count", reply.Int(int64(s.n))), pair("min", s.orNull(s.min)), pair("max", s.orNull(s.max)),
		pair("sum", reply.Number(s.sum)), pair("avg", s.orNull(s.metric("avg"))))
}

func stats(_ *aggregator, a *aggregation, docs []uint32) (reply.Value, error) {
	s := a.summarize(docs)
	return reply.Map(s.pairs()...), nil
}

func extendedStats(_ *aggregator, a *aggregation, docs []uint32) (reply.Value, error) {
	sigma, ok := a.args.number("sigma")
	if !ok {
		sigma = 2
	}
	s := a.summarize(docs)
	mean, n := s.metric("avg"), float64(s.n)
	deviation := 0.0 // sum of squares of the distances from the mean
	a.floats(docs, func(v float64) { deviation += (v - mean) * (v - mean) })
	population, sampling := deviation/n, deviation/(n-1)
	if s.n < 2 {
		sampling = math.NaN()
	}
	bound := func(variance, side float64) reply.Value { return s.orNull(mean + side*sigma*math.Sqrt(variance)) }
	bounds := reply.Map(slices.Concat(pair("upper", bound(population, 1)), pair("lower", bound(population, -1)),
		pair("upperSampling", bound(sampling, 1)), pair("lowerSampling", bound(sampling, -1)),
		pair("upperPopulation", bound(population, 1)), pair("lowerPopulation", bound(population, -1)))...)
	return reply.Map(slices.Concat(s.pairs(), pair("sumOfSquares", s.orNull(s.squares)),
		pair("variance", s.orNull(population)), pair("variancePopulation", s.orNull(population)), pair("varianceSampling", s.orNull(sampling)),
		pair("stdDeviation", s.orNull(math.Sqrt(population))), pair("stdDeviationPopulation", s.orNull(math.Sqrt(population))),
		pair("stdDeviationSampling", s.orNull(math.Sqrt(sampling))), pair("stdDeviationBounds", bounds))...), nil
}

// maxPercents bounds the percentiles of one aggregation.
const maxPercents = 100

func percentiles(_ *aggregator, a *aggregation, docs []uint32) (reply.Value, error) {
	percents, err := a.percents()
	if err != nil {
		return reply.Value{}, err
	}
	keyed := a.args.flag("keyed", true)
	var values []float64
	a.floats(docs, func(v float64) { values = append(values, v) })
	slices.Sort(values)
	var out []reply.Value
	for _, p := range percents {
		v := percentile(values, p)
		if keyed {
			out = append(out, reply.Bulk(percentName(p)), v)
		} else {
			out = append(out, reply.Map(slices.Concat(pair("key", reply.Number(p)), pair("value", v))...))
		}
	}
	list := reply.Array(out...)
	if keyed {
		list = reply.Map(out...)
	}
	return reply.Map(pair("values", list)...), nil
}

// percents reads which percentiles are wanted.
func (a *aggregation) percents() ([]float64, error) {
	list := a.args.list("percents")
	if list == nil {
		return []float64{1, 5, 25, 50, 75, 95, 99}, nil
	}
	var percents []float64
	for _, v := range list {
		if p, ok := float(v); ok {
			percents = append(percents, p)
		} else {
			a.args.wrong("percents", "an array of numbers", v)
		}
	}
	for _, p := range percents {
		if p < 0 || p > 100 {
			return nil, search.Errorf("Aggregation '%s': 'percents' must be between 0 and 100", a.alias)
		}
	}
	if len(percents) == 0 || len(percents) > maxPercents {
		return nil, search.Errorf("Aggregation '%s': 'percents' must have 1 to %d numbers", a.alias, maxPercents)
	}
	return percents, nil
}

// percentile is the value below which p of a hundred sorted values are, between the two nearest ones; null if there are none.
func percentile(values []float64, p float64) reply.Value {
	n := len(values)
	if n == 0 {
		return reply.Nil()
	}
	at := p / 100 * float64(n-1)
	low := int(at)
	high := min(low+1, n-1)
	return reply.Number(values[low] + (at-float64(low))*(values[high]-values[low]))
}

// percentName is a percentile as the name of its member.
func percentName(p float64) string {
	name := reply.FormatDouble(p)
	if !strings.ContainsAny(name, ".e") {
		name += ".0"
	}
	return name
}
