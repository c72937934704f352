package searchindex

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// source is one part of the keys of a $composite.
type source struct {
	name         string
	f            *field
	down         bool
	missing      bool // documents without a value have a bucket too
	missingFirst bool
	bucket       func(bits uint64) float64 // of histograms; nil for the values themselves
}

// part is the value of a source in a key.
type part struct {
	none bool
	bucketKey
	float float64 // of histograms
}

// compare orders parts of keys as the source wants them.
func (s *source) compare(a, b part) int {
	if a.none || b.none {
		return s.compareMissing(a, b)
	}
	c := compareKeys(a.bucketKey, b.bucketKey)
	switch {
	case a.float < b.float:
		c = -1
	case a.float > b.float:
		c = 1
	}
	if s.down {
		c = -c
	}
	return c
}

// compareMissing orders parts of which at least one is of documents without a value.
func (s *source) compareMissing(a, b part) int {
	if a.none && b.none {
		return 0
	}
	if a.none == s.missingFirst {
		return -1
	}
	return 1
}

// typed is a part of a key as afterKey has it.
func (s *source) typed(p part) string {
	switch {
	case p.none:
		return "null:"
	case s.bucket != nil:
		return "f64:" + reply.FormatDouble(p.float)
	}
	switch s.f.Type {
	case search.Keyword:
		return "str:" + p.text
	case search.U64, search.Bool:
		return "u64:" + strconv.FormatUint(p.number, 10)
	case search.I64:
		return "i64:" + strconv.FormatInt(intOf(p.number), 10)
	case search.Date:
		return "date:" + strconv.FormatInt(intOf(p.number), 10)
	}
	return "f64:" + reply.FormatDouble(floatOf(p.number))
}

// read reads what typed wrote.
func (s *source) read(text string) (p part, ok bool) {
	kind, value, ok := strings.Cut(text, ":")
	switch {
	case !ok:
		return p, false
	case kind == "null":
		p.none = true
		return p, true
	case s.bucket != nil:
		f, err := strconv.ParseFloat(value, 64)
		p.float = f
		return p, kind == "f64" && err == nil
	case s.f.Type == search.Keyword:
		p.text = value
		return p, kind == "str"
	}
	p.number, ok = s.readNumber(kind, value)
	return p, ok
}

// readNumber reads the value of a field with numbers.
func (s *source) readNumber(kind, value string) (bits uint64, ok bool) {
	switch s.f.Type {
	case search.U64, search.Bool:
		n, err := strconv.ParseUint(value, 10, 64)
		return n, kind == "u64" && err == nil
	case search.F64:
		f, err := strconv.ParseFloat(value, 64)
		return orderedFloat(f), kind == "f64" && err == nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	return orderedInt(n), (kind == "i64" || kind == "date") && err == nil
}

// shown is a part of a key in a bucket.
func (s *source) shown(p part) reply.Value {
	switch {
	case p.none:
		return reply.Nil()
	case s.bucket != nil:
		return reply.Number(p.float)
	case s.f.Type == search.F64:
		return reply.Number(floatOf(p.number))
	}
	v, _ := s.f.keyReply(p.bucketKey)
	return v
}

// parts are the values of a document.
func (s *source) parts(doc uint32) (list []part) {
	s.f.keys(doc, func(k bucketKey) {
		if s.bucket == nil {
			list = append(list, part{bucketKey: k})
		} else if p := (part{float: s.bucket(k.number)}); !slices.Contains(list, p) {
			list = append(list, p)
		}
	})
	if len(list) == 0 && s.missing {
		list = []part{{none: true}}
	}
	return list
}

// maxSources bounds the sources of a $composite.
const maxSources = 16

// sources reads all sources.
func (ag *aggregator) sources(a *aggregation) (sources []source, err error) {
	list := a.args.list("sources")
	if len(list) == 0 || len(list) > maxSources {
		return nil, search.Errorf("Aggregation '%s': $composite needs 1 to %d 'sources'", a.alias, maxSources)
	}
	for _, e := range list {
		s, err := ag.source(a, e)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(sources, func(o source) bool { return o.name == s.name }) {
			return nil, search.Errorf("Aggregation '%s': two sources are named '%s'", a.alias, s.name)
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// source reads one source: its name, and for it one operator.
func (ag *aggregator) source(a *aggregation, v jsondoc.Value) (s source, err error) {
	o, ok := v.(*jsondoc.Object)
	if !ok || o.Len() != 1 {
		return s, search.Errorf("Aggregation '%s': each of 'sources' must be an object with one member", a.alias)
	}
	err = members(o, func(name string, v jsondoc.Value) error {
		s.name = name
		o, ok := v.(*jsondoc.Object)
		if !ok || o.Len() != 1 {
			return search.Errorf("Aggregation '%s': source '%s' must be an object with one operator", a.alias, name)
		}
		return members(o, func(op string, v jsondoc.Value) error { return ag.sourceOperator(a, &s, op, v) })
	})
	return s, err
}

// sourceOperator reads the operator of a source.
func (ag *aggregator) sourceOperator(a *aggregation, s *source, op string, v jsondoc.Value) error {
	o, ok := v.(*jsondoc.Object)
	if !ok {
		return search.Errorf("Aggregation '%s': source '%s': %s must be a JSON object", a.alias, s.name, op)
	}
	types := []search.FieldType{search.U64, search.I64, search.F64, search.Date}
	switch op {
	case "$terms":
		types = append(types, search.Bool, search.Keyword)
	case "$dateHistogram":
		types = []search.FieldType{search.Date}
	case "$histogram":
	default:
		return search.Errorf("Aggregation '%s': source '%s' has the unknown operator %s", a.alias, s.name, op)
	}
	one := aggregation{alias: a.alias, op: op, args: newArguments(a.alias, o)}
	if err := ag.field(&one, types); err != nil {
		return err
	}
	s.f = one.f
	return s.options(&one)
}

// options reads what a source may say besides its field.
func (s *source) options(a *aggregation) (err error) {
	if err := s.order(a); err != nil {
		return err
	}
	switch a.op {
	case "$histogram":
		step, ok := a.args.number("interval")
		if !ok || step <= 0 {
			return search.Errorf("Aggregation '%s': 'interval' must be a number above 0", a.alias)
		}
		s.bucket = s.fixed(step)
	case "$dateHistogram":
		if err := s.interval(a); err != nil {
			return err
		}
	}
	return a.args.done(a.op)
}

// order reads how the values are ordered, and where documents without one are.
func (s *source) order(a *aggregation) error {
	order := strings.ToLower(a.args.text("order", "asc"))
	s.down, s.missing = order == "desc", a.args.flag("missingBucket", false)
	place := a.args.text("missingOrder", "default")
	s.missingFirst = place == "first" || place == "default" && !s.down
	if order != "asc" && order != "desc" {
		return search.Errorf("Aggregation '%s': 'order' must be asc or desc", a.alias)
	}
	if place != "default" && place != "first" && place != "last" {
		return search.Errorf("Aggregation '%s': 'missingOrder' must be default, first or last", a.alias)
	}
	return nil
}

// interval reads how long the buckets of a $dateHistogram are.
func (s *source) interval(a *aggregation) error {
	calendar, text := a.args.text("calendarInterval", ""), a.args.text("fixedInterval", "")
	step, ok := interval(text)
	switch {
	case calendar != "" && text == "":
		if calendar != "year" && calendar != "month" && calendar != "week" {
			return search.Errorf("Aggregation '%s': 'calendarInterval' must be year, month or week", a.alias)
		}
		s.bucket = func(bits uint64) float64 { return float64(calendarStart(intOf(bits), calendar)) }
	case calendar == "" && ok && step > 0:
		s.bucket = s.fixed(step)
	default:
		return search.Errorf("Aggregation '%s': $dateHistogram needs either 'fixedInterval', such as \"1d\", or 'calendarInterval'", a.alias)
	}
	return nil
}

// fixed returns the beginning of a value's bucket where all are equally long.
func (s *source) fixed(step float64) func(bits uint64) float64 {
	f := s.f
	return func(bits uint64) float64 { return math.Floor(f.asFloat(bits)/step) * step }
}

// calendarStart is the beginning, in unix milliseconds, of the year, month or week (from Monday on, in UTC) of a time in
// unix microseconds.
func calendarStart(us int64, unit string) int64 {
	t := time.UnixMicro(us).UTC()
	year, month, day := t.Date()
	switch unit {
	case "year":
		month, day = 1, 1
	case "month":
		day = 1
	default:
		day -= (int(t.Weekday()) + 6) % 7
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).UnixMilli()
}

// after reads where a page begins, nil if it is the first.
func (a *aggregation) after(sources []source) (key []part, err error) {
	found, given := a.givenKey()
	if !given {
		return nil, nil
	}
	for i := range sources {
		p, ok := sources[i].read(found[sources[i].name])
		if !ok || len(found) != len(sources) {
			return nil, search.Errorf("Aggregation '%s': 'after' must be the afterKey of a page with the same sources", a.alias)
		}
		key = append(key, p)
	}
	return key, nil
}

// givenKey reads the members of "after": an object, or the flat array that clients are given.
func (a *aggregation) givenKey() (found map[string]string, given bool) {
	found = map[string]string{}
	switch v := a.args.get("after").(type) {
	case nil, jsondoc.Null:
		return nil, false
	case *jsondoc.Object:
		v.All(func(name string, e jsondoc.Value) bool {
			s, _ := e.(jsondoc.String)
			found[name] = string(s)
			return true
		})
	case *jsondoc.Array:
		for i := 0; i+1 < v.Len(); i += 2 {
			name, _ := v.At(i).(jsondoc.String)
			s, _ := v.At(i + 1).(jsondoc.String)
			found[string(name)] = string(s)
		}
	}
	return found, true
}
