package search

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
		c := 0
		switch {
		case a.none && b.none:
			return 0
		case a.none:
			c = 1
		default:
			c = -1
		}
		if s.missingFirst {
			c = -c
		}
		return c
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
	if !ok {
		return p, false
	}
	var err error
	switch {
	case kind == "null":
		p.none = true
	case s.bucket != nil:
		p.float, err = strconv.ParseFloat(value, 64)
		ok = kind == "f64"
	case s.f.Type == search.Keyword:
		p.text, ok = value, kind == "str"
	case s.f.Type == search.U64 || s.f.Type == search.Bool:
		p.number, err = strconv.ParseUint(value, 10, 64)
		ok = kind == "u64"
	case s.f.Type == search.F64:
		var f float64
		f, err = strconv.ParseFloat(value, 64)
		p.number, ok = orderedFloat(f), kind == "f64"
	default:
		var n int64
		n, err = strconv.ParseInt(value, 10, 64)
		p.number, ok = orderedInt(n), kind == "i64" || kind == "date"
	}
	return p, ok && err == nil
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

// maxSources is how many sources a $composite may have.
const maxSources = 16

// maxCombinations is how many combinations of values a $composite looks at.
const maxCombinations = 50_000_000

// source reads one source.
func (g *aggregator) source(a *aggregation, v jsondoc.Value) (s source, err error) {
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
		return members(o, func(op string, v jsondoc.Value) error {
			o, ok := v.(*jsondoc.Object)
			if !ok {
				return search.Errorf("Aggregation '%s': source '%s': %s must be a JSON object", a.alias, name, op)
			}
			types := []search.FieldType{search.U64, search.I64, search.F64, search.Date}
			switch op {
			case "$terms":
				types = append(types, search.Bool, search.Keyword)
			case "$dateHistogram":
				types = []search.FieldType{search.Date}
			case "$histogram":
			default:
				return search.Errorf("Aggregation '%s': source '%s' has the unknown operator %s", a.alias, name, op)
			}
			one := aggregation{alias: a.alias, op: op, args: newArguments(a.alias, o)}
			if err := g.field(&one, types); err != nil {
				return err
			}
			s.f = one.f
			return s.options(&one)
		})
	})
	return s, err
}

// options reads what a source may say besides its field.
func (s *source) options(a *aggregation) error {
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
	f := s.f
	fixed := func(step float64) func(uint64) float64 {
		return func(bits uint64) float64 { return math.Floor(f.asFloat(bits)/step) * step }
	}
	switch a.op {
	case "$histogram":
		step, ok := a.args.number("interval")
		if !ok || step <= 0 {
			return search.Errorf("Aggregation '%s': 'interval' must be a number above 0", a.alias)
		}
		s.bucket = fixed(step)
	case "$dateHistogram":
		calendar, text := a.args.text("calendarInterval", ""), a.args.text("fixedInterval", "")
		step, ok := interval(text)
		switch {
		case calendar != "" && text == "":
			if calendar != "year" && calendar != "month" && calendar != "week" {
				return search.Errorf("Aggregation '%s': 'calendarInterval' must be year, month or week", a.alias)
			}
			s.bucket = func(bits uint64) float64 { return float64(calendarStart(intOf(bits), calendar)) }
		case calendar == "" && ok && step > 0:
			s.bucket = fixed(step)
		default:
			return search.Errorf("Aggregation '%s': $dateHistogram needs either 'fixedInterval', such as \"1d\", or 'calendarInterval'", a.alias)
		}
	}
	return a.args.done(a.op)
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

// after reads where a page begins: afterKey as an object, or as the flat array that clients are given.
func (a *aggregation) after(sources []source) (key []part, err error) {
	v := a.args.get("after")
	found := map[string]string{}
	switch v := v.(type) {
	case nil, jsondoc.Null:
		return nil, nil
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
	for i := range sources {
		p, ok := sources[i].read(found[sources[i].name])
		if !ok || len(found) != len(sources) {
			return nil, search.Errorf("Aggregation '%s': 'after' must be the afterKey of a page with the same sources", a.alias)
		}
		key = append(key, p)
	}
	return key, nil
}

func composite(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	list, size := a.args.list("sources"), a.args.whole("size", 10, 1)
	if len(list) == 0 || len(list) > maxSources {
		return v, search.Errorf("Aggregation '%s': $composite needs 1 to %d 'sources'", a.alias, maxSources)
	}
	var sources []source
	for _, e := range list {
		s, err := g.source(a, e)
		if err != nil {
			return v, err
		}
		if slices.ContainsFunc(sources, func(o source) bool { return o.name == s.name }) {
			return v, search.Errorf("Aggregation '%s': two sources are named '%s'", a.alias, s.name)
		}
		sources = append(sources, s)
	}
	after, err := a.after(sources)
	if err != nil {
		return v, err
	}
	type entry struct {
		key  []part
		docs []uint32
	}
	compare := func(x, y []part) int {
		for i := range sources {
			if c := sources[i].compare(x[i], y[i]); c != 0 {
				return c
			}
		}
		return 0
	}
	groups := map[string]*entry{}
	key := make([]part, len(sources))
	steps := 0
	var walk func(doc uint32, i int, name string)
	walk = func(doc uint32, i int, name string) {
		if steps++; steps > maxCombinations {
			return
		}
		if i == len(sources) {
			if after != nil && compare(key, after) <= 0 {
				return
			}
			one := groups[name]
			if one == nil {
				one = &entry{key: slices.Clone(key)}
				groups[name] = one
			}
			one.docs = append(one.docs, doc)
			return
		}
		for _, p := range sources[i].parts(doc) {
			key[i] = p
			t := sources[i].typed(p)
			walk(doc, i+1, name+strconv.Itoa(len(t))+":"+t)
		}
	}
	for _, doc := range docs {
		walk(doc, 0, "")
	}
	if steps > maxCombinations {
		return v, search.Errorf("Aggregation '%s': the documents have more than %d combinations of values", a.alias, maxCombinations)
	}
	entries := make([]*entry, 0, len(groups))
	for _, one := range groups { // unordered: sorted below
		entries = append(entries, one)
	}
	slices.SortFunc(entries, func(x, y *entry) int { return compare(x.key, y.key) })
	entries = entries[:min(size, len(entries))]
	var buckets, last []reply.Value
	for i, one := range entries {
		var shown []reply.Value
		for j := range sources {
			shown = append(shown, pair(sources[j].name, sources[j].shown(one.key[j]))...)
			if i == len(entries)-1 {
				last = append(last, pair(sources[j].name, reply.Bulk(sources[j].typed(one.key[j])))...)
			}
		}
		b, err := g.bucket(a, one.docs, append(pair("key", reply.Map(shown...)), pair("docCount", reply.Int(int64(len(one.docs))))...)...)
		if err != nil {
			return v, err
		}
		buckets = append(buckets, b)
	}
	fields := pair("buckets", reply.Array(buckets...))
	if len(last) > 0 {
		fields = append(fields, pair("afterKey", reply.Map(last...))...)
	}
	return reply.Map(fields...), nil
}
