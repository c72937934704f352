package searchindex

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// group are the documents of one key.
type group struct {
	key  bucketKey
	docs []uint32
	rank float64 // what groups are sorted by, if neither count nor key
}

// grouping collects documents by the keys of a field.
type grouping map[bucketKey]*group

// group returns the group of a key, and makes it if it is new.
func (g grouping) group(k bucketKey) *group {
	one := g[k]
	if one == nil {
		one = &group{key: k}
		g[k] = one
	}
	return one
}

// add takes in the documents of a result; those without a value have the key of "missing", if that is given.
func (g grouping) add(a *aggregation, docs []uint32) {
	missing, has := a.missingKey()
	for _, doc := range docs {
		put := func(k bucketKey) { one := g.group(k); one.docs = append(one.docs, doc) }
		if !a.f.keys(doc, put) && has {
			put(missing)
		}
	}
}

// addKeys takes in all keys of a field, with or without documents.
func (g grouping) addKeys(f *field) {
	if f.terms != nil {
		f.terms.All(func(text string, _ *term) bool { g.group(bucketKey{text: text}); return true })
	} else {
		f.numbers.All(func(n uint64, _ *postings) bool { g.group(bucketKey{number: n}); return true })
	}
}

func termBuckets(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	size, least := a.args.whole("size", 10, 1), a.args.whole("minDocCount", 1, 0)
	a.args.whole("segmentSize", 0, 0) // counts are exact
	showError := a.args.flag("showTermDocCountError", false)
	selection, err := a.selection()
	if err != nil {
		return v, err
	}
	byKey := grouping{}
	byKey.add(a, docs)
	if least == 0 {
		byKey.addKeys(a.f)
	}
	var groups []*group
	for k, one := range byKey { // unordered: sorted below
		if len(one.docs) >= least && selection.takes(a.f, k) {
			groups = append(groups, one)
		}
	}
	before, err := a.order(g, groups)
	if err != nil {
		return v, err
	}
	slices.SortFunc(groups, before)
	return g.termPage(a, groups, size, showError)
}

// termPage shows the first groups, and how many documents the others have.
func (ag *aggregator) termPage(a *aggregation, groups []*group, size int, showError bool) (v reply.Value, err error) {
	shown := groups[:min(size, len(groups))]
	others := 0
	for _, one := range groups[len(shown):] {
		others += len(one.docs)
	}
	var buckets []reply.Value
	for _, one := range shown {
		fields := append(a.f.keyPairs(one.key), pair("docCount", reply.Int(int64(len(one.docs))))...)
		if showError {
			fields = append(fields, pair("docCountErrorUpperBound", reply.Int(0))...)
		}
		b, err := ag.bucket(a, one.docs, fields...)
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
	by, up, err := a.orderOption()
	if err != nil {
		return nil, err
	}
	compare := func(x, y *group) int { return cmp.Compare(x.rank, y.rank) }
	switch by {
	case "count", "_count":
		compare = func(x, y *group) int { return len(x.docs) - len(y.docs) }
	case "key", "_key":
		compare = func(x, y *group) int { return compareKeys(x.key, y.key) }
	default:
		if err := a.rank(g, groups, by); err != nil {
			return nil, err
		}
	}
	return func(x, y *group) int {
		if noX, noY := math.IsNaN(x.rank), math.IsNaN(y.rank); noX != noY { // those without a number come last
			if noX {
				return 1
			}
			return -1
		}
		c := compare(x, y)
		if !up {
			c = -c
		}
		return cmp.Or(c, compareKeys(x.key, y.key))
	}, nil
}

// orderOption reads what groups are sorted by, and whether the least come first.
func (a *aggregation) orderOption() (by string, up bool, err error) {
	o := a.args.object("order")
	if o == nil {
		return "count", false, nil
	}
	if o.o.Len() != 1 {
		return "", false, search.Errorf("Aggregation '%s': 'order' must have one member", a.alias)
	}
	o.o.All(func(key string, _ jsondoc.Value) bool { by = key; return false })
	switch direction := strings.ToLower(o.text(by, "")); direction {
	case "asc", "desc":
		return by, direction == "asc", nil
	}
	return "", false, search.Errorf("Aggregation '%s': 'order' must be asc or desc", a.alias)
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
			one.rank = numberOf(out[1], member)
		}
		return nil
	}
	return search.Errorf("Aggregation '%s': 'order' names no aggregation below with one number: %s", a.alias, by)
}

// numberOf is a number of a result, not a number if it has none of that name.
func numberOf(result reply.Value, member string) float64 {
	n := math.NaN()
	for pair := range slices.Chunk(result.Elems(), 2) {
		switch v := pair[1]; {
		case pair[0].Text() != member:
		case v.Kind() == reply.KindInt:
			n = float64(v.Int())
		case v.Kind() == reply.KindDouble:
			n = v.Float()
		}
	}
	return n
}
