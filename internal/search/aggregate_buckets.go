package search

import (
	"math"
	"regexp"
	"slices"
	"strconv"
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
