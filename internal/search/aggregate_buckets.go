package search

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// keyReply is a value of a field in a result, with its text where that says more.
func (f *field) keyReply(k bucketKey) (v, text reply.Value) {
	switch f.Type {
	case search.U64:
		if k.number <= math.MaxInt64 {
			return reply.Int(int64(k.number)), text
		}
		return reply.Number(float64(k.number)), text
	case search.I64:
		return reply.Int(intOf(k.number)), text
	case search.Bool:
		return reply.Int(int64(k.number)), reply.Bulk(strconv.FormatBool(k.number == 1))
	case search.Date:
		return reply.Number(f.asFloat(k.number)), reply.Bulk(dateText(f.asFloat(k.number)))
	case search.F64:
		return reply.Number(floatOf(k.number)), text
	}
	return reply.Bulk(k.text), text
}

// dateText is a time of unix milliseconds in RFC 3339.
func dateText(ms float64) string {
	return time.UnixMicro(int64(ms * 1000)).UTC().Format(time.RFC3339Nano)
}

func (f *field) keyPairs(k bucketKey) []reply.Value {
	v, text := f.keyReply(k)
	out := pair("key", v)
	if !text.IsNil() {
		out = append(out, pair("keyAsString", text)...)
	}
	return out
}

func compareKeys(a, b bucketKey) int {
	switch {
	case a.number != b.number && a.number < b.number:
		return -1
	case a.number != b.number:
		return 1
	}
	return strings.Compare(a.text, b.text)
}

// group are the documents of one key.
type group struct {
	key  bucketKey
	docs []uint32
	rank float64 // what groups are sorted by, if neither count nor key
}

// selects is the test that include or exclude make; nil if it is not there.
func (a *aggregation) selects(name string) (func(text string) bool, error) {
	switch v := a.args.get(name).(type) {
	case nil:
		return nil, nil
	case jsondoc.String:
		if len(v) > maxRegex {
			return nil, search.Errorf("Aggregation '%s': '%s' has at most %d bytes", a.alias, name, maxRegex)
		}
		re, err := regexp.Compile("^(?:" + string(v) + ")$")
		if err != nil {
			return nil, search.Errorf("Aggregation '%s': '%s' is an invalid pattern: %v", a.alias, name, err)
		}
		return re.MatchString, nil
	case *jsondoc.Array:
		set := map[string]bool{}
		v.All(func(_ int, e jsondoc.Value) bool {
			if s, ok := e.(jsondoc.String); ok {
				set[string(s)] = true
			} else if text, err := jsondoc.Text(e); err == nil {
				set[text] = true
			}
			return true
		})
		return func(text string) bool { return set[text] }, nil
	default:
		a.args.wrong(name, "a pattern or an array", v)
		return nil, nil
	}
}

func termBuckets(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	size, least := a.args.whole("size", 10, 1), a.args.whole("minDocCount", 1, 0)
	a.args.whole("segmentSize", 0, 0) // counts are exact
	showError := a.args.flag("showTermDocCountError", false)
	include, err := a.selects("include")
	if err != nil {
		return v, err
	}
	exclude, err := a.selects("exclude")
	if err != nil {
		return v, err
	}
	missing, has := a.missingKey()
	byKey := map[bucketKey]*group{}
	add := func(k bucketKey) *group {
		one := byKey[k]
		if one == nil {
			one = &group{key: k}
			byKey[k] = one
		}
		return one
	}
	for _, doc := range docs {
		put := func(k bucketKey) { one := add(k); one.docs = append(one.docs, doc) }
		if !a.f.keys(doc, put) && has {
			put(missing)
		}
	}
	if least == 0 {
		if a.f.terms != nil {
			a.f.terms.All(func(text string, _ *term) bool { add(bucketKey{text: text}); return true })
		} else {
			a.f.numbers.All(func(n uint64, _ *postings) bool { add(bucketKey{number: n}); return true })
		}
	}
	var groups []*group
	for k, one := range byKey { // unordered: sorted below
		shown, text := a.f.keyReply(k)
		if name := text.Text(); include != nil || exclude != nil {
			if text.IsNil() {
				name = shown.Text()
				if shown.Kind() == reply.KindInt {
					name = strconv.FormatInt(shown.Int(), 10)
				}
			}
			if include != nil && !include(name) || exclude != nil && exclude(name) {
				continue
			}
		}
		if len(one.docs) >= least {
			groups = append(groups, one)
		}
	}
	before, err := a.order(g, groups)
	if err != nil {
		return v, err
	}
	slices.SortFunc(groups, before)
	others := 0
	for _, one := range groups[min(size, len(groups)):] {
		others += len(one.docs)
	}
	var buckets []reply.Value
	for _, one := range groups[:min(size, len(groups))] {
		fields := append(a.f.keyPairs(one.key), pair("docCount", reply.Int(int64(len(one.docs))))...)
		if showError {
			fields = append(fields, pair("docCountErrorUpperBound", reply.Int(0))...)
		}
		b, err := g.bucket(a, one.docs, fields...)
		if err != nil {
			return v, err
		}
		buckets = append(buckets, b)
	}
	return reply.Map(slices.Concat(pair("buckets", reply.Array(buckets...)), pair("sumOtherDocCount", reply.Int(int64(others))),
		pair("docCountErrorUpperBound", reply.Int(0)))...), nil
}

// order is the order of groups: the largest first if nothing else is said, equal ones by key.
func (a *aggregation) order(g *aggregator, groups []*group) (before func(x, y *group) int, err error) {
	by, up := "count", false
	if o := a.args.object("order"); o != nil {
		if o.o.Len() != 1 {
			return nil, search.Errorf("Aggregation '%s': 'order' must have one member", a.alias)
		}
		o.o.All(func(key string, _ jsondoc.Value) bool { by = key; return false })
		switch direction := strings.ToLower(o.text(by, "")); direction {
		case "asc", "desc":
			up = direction == "asc"
		default:
			return nil, search.Errorf("Aggregation '%s': 'order' must be asc or desc", a.alias)
		}
	}
	if by != "count" && by != "key" && by != "_count" && by != "_key" {
		if err := a.rank(g, groups, by); err != nil {
			return nil, err
		}
	}
	return func(x, y *group) int {
		c := 0
		switch by {
		case "count", "_count":
			c = len(x.docs) - len(y.docs)
		case "key", "_key":
			c = compareKeys(x.key, y.key)
		default:
			switch {
			case math.IsNaN(x.rank) != math.IsNaN(y.rank): // those without a number come last
				if math.IsNaN(x.rank) {
					return 1
				}
				return -1
			case x.rank < y.rank:
				c = -1
			case x.rank > y.rank:
				c = 1
			}
		}
		if !up {
			c = -c
		}
		if c == 0 {
			return compareKeys(x.key, y.key)
		}
		return c
	}, nil
}

// rank computes what groups are sorted by: the number of an aggregation below, "alias" or "alias.member".
func (a *aggregation) rank(g *aggregator, groups []*group, by string) error {
	alias, member, _ := strings.Cut(by, ".")
	if member == "" {
		member = "value"
	}
	for i := range a.subs {
		if a.subs[i].alias != alias || operators[a.subs[i].op].buckets {
			continue
		}
		for _, one := range groups {
			out, err := g.run(a.subs[i:i+1], one.docs)
			if err != nil {
				return err
			}
			one.rank = math.NaN()
			for j, list := 0, out[1].Elems(); j+1 < len(list); j += 2 {
				if list[j].Text() != member {
					continue
				}
				switch v := list[j+1]; v.Kind() {
				case reply.KindInt:
					one.rank = float64(v.Int())
				case reply.KindDouble:
					one.rank = v.Float()
				}
			}
		}
		return nil
	}
	return search.Errorf("Aggregation '%s': 'order' names no aggregation below with one number: %s", a.alias, by)
}

// edge is a bound of ranges and histograms: a number, or a time in RFC 3339 of a DATE.
func (a *aggregation) edge(args *arguments, name string) (f float64, ok bool) {
	if s, text := args.get(name).(jsondoc.String); text && a.f.Type == search.Date {
		n, fits := date(string(s))
		if !fits {
			args.wrong(name, "a time as in RFC 3339", s)
		}
		return a.f.asFloat(n), fits
	}
	return args.number(name)
}

func rangeBuckets(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	list := a.args.list("ranges")
	keyed := a.args.flag("keyed", false)
	if len(list) == 0 {
		return v, search.Errorf("Aggregation '%s': $range needs 'ranges'", a.alias)
	}
	var out []reply.Value
	for _, e := range list {
		o, ok := e.(*jsondoc.Object)
		if !ok {
			return v, search.Errorf("Aggregation '%s': 'ranges' must have objects", a.alias)
		}
		args := newArguments(a.alias, o)
		from, hasFrom := a.edge(args, "from")
		to, hasTo := a.edge(args, "to")
		low, high := "*", "*"
		if hasFrom {
			low = reply.FormatDouble(from)
		}
		if hasTo {
			high = reply.FormatDouble(to)
		}
		key := args.text("key", low+"-"+high)
		if err := args.done("$range"); err != nil {
			return v, err
		}
		var mine []uint32
		var one [1]uint64
		for _, doc := range docs {
			for _, n := range a.f.column.values(doc, &one) {
				if x := a.f.asFloat(n); (!hasFrom || x >= from) && (!hasTo || x < to) {
					mine = append(mine, doc)
					break
				}
			}
		}
		fields := append(pair("key", reply.Bulk(key)), pair("docCount", reply.Int(int64(len(mine))))...)
		if hasFrom {
			fields = append(fields, pair("from", reply.Number(from))...)
		}
		if hasTo {
			fields = append(fields, pair("to", reply.Number(to))...)
		}
		b, err := g.bucket(a, mine, fields...)
		if err != nil {
			return v, err
		}
		if keyed {
			out = append(out, reply.Bulk(key))
		}
		out = append(out, b)
	}
	return bucketList(keyed, out), nil
}

// bucketList are buckets as a list, or by their key.
func bucketList(keyed bool, out []reply.Value) reply.Value {
	if keyed {
		return reply.Map(pair("buckets", reply.Map(out...))...)
	}
	return reply.Map(pair("buckets", reply.Array(out...))...)
}

// facet counts what is below a path, level by level.
func facet(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	path := a.args.text("path", "")
	depth, size, least := a.args.whole("depth", 1, 1), a.args.whole("size", 10, 1), a.args.whole("minDocCount", 1, 0)
	byPath, up := false, false
	if o := a.args.object("order"); o != nil {
		for _, name := range []string{"count", "path"} {
			if direction := o.text(name, ""); direction != "" {
				byPath, up = name == "path", strings.EqualFold(direction, "asc")
			}
		}
		a.args.fail(o.done("order"))
	}
	if !strings.HasPrefix(path, "/") {
		return v, search.Errorf("Aggregation '%s': 'path' must begin with '/'", a.alias)
	}
	path = strings.TrimSuffix(path, "/")
	counts := map[string]map[string]int{} // by parent
	for _, doc := range docs {
		a.f.keys(doc, func(k bucketKey) {
			rest, below := strings.CutPrefix(k.text, path+"/")
			parent := path
			for level := 0; below && rest != "" && level < depth; level++ {
				var name string
				name, rest, below = strings.Cut(rest, "/")
				if counts[parent] == nil {
					counts[parent] = map[string]int{}
				}
				child := parent + "/" + name
				counts[parent][child]++
				parent = child
			}
		})
	}
	var below func(parent string) (others int64, children []reply.Value, err error)
	below = func(parent string) (others int64, children []reply.Value, err error) {
		var names []string
		for name, n := range counts[parent] { // unordered: sorted below
			if n >= least {
				names = append(names, name)
			}
		}
		slices.SortFunc(names, func(x, y string) int {
			c := strings.Compare(x, y)
			if !byPath && counts[parent][x] != counts[parent][y] {
				c = counts[parent][x] - counts[parent][y]
				if !up {
					c = -c
				}
			} else if byPath && !up {
				c = -c
			}
			return c
		})
		for i, name := range names {
			if i >= size {
				others += int64(counts[parent][name])
				continue
			}
			if g.buckets++; g.buckets > maxBuckets {
				return 0, nil, search.Errorf("Aggregation '%s' makes more than %d buckets", a.alias, maxBuckets)
			}
			more, kids, err := below(name)
			if err != nil {
				return 0, nil, err
			}
			fields := slices.Concat(pair("path", reply.Bulk(name)), pair("docCount", reply.Int(int64(counts[parent][name]))), pair("sumOtherDocCount", reply.Int(more)))
			if len(kids) > 0 {
				fields = append(fields, pair("children", reply.Array(kids...))...)
			}
			children = append(children, reply.Map(fields...))
		}
		return others, children, nil
	}
	others, children, err := below(path)
	if err != nil {
		return v, err
	}
	shown := path
	if shown == "" {
		shown = "/"
	}
	return reply.Map(slices.Concat(pair("path", reply.Bulk(shown)), pair("sumOtherDocCount", reply.Int(others)), pair("children", reply.Array(children...)))...), nil
}
