package search

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

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
