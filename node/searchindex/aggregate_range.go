package searchindex

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

// span is one of the ranges of a $range: from its beginning to before its end.
type span struct {
	key            string
	from, to       float64
	hasFrom, hasTo bool
}

// span reads one range.
func (a *aggregation) span(v jsondoc.Value) (s span, err error) {
	o, ok := v.(*jsondoc.Object)
	if !ok {
		return s, search.Errorf("Aggregation '%s': 'ranges' must have objects", a.alias)
	}
	args := newArguments(a.alias, o)
	s.from, s.hasFrom = a.edge(args, "from")
	s.to, s.hasTo = a.edge(args, "to")
	low, high := "*", "*"
	if s.hasFrom {
		low = reply.FormatDouble(s.from)
	}
	if s.hasTo {
		high = reply.FormatDouble(s.to)
	}
	s.key = args.text("key", low+"-"+high)
	return s, args.done("$range")
}

// docs are the documents with a value in the range.
func (s *span) docs(f *field, docs []uint32) (mine []uint32) {
	var one [1]uint64
	for _, doc := range docs {
		for _, n := range f.column.values(doc, &one) {
			if x := f.asFloat(n); (!s.hasFrom || x >= s.from) && (!s.hasTo || x < s.to) {
				mine = append(mine, doc)
				break
			}
		}
	}
	return mine
}

// bucket is the result of a range.
func (s *span) bucket(g *aggregator, a *aggregation, docs []uint32) (reply.Value, error) {
	mine := s.docs(a.f, docs)
	fields := append(pair("key", reply.Bulk(s.key)), pair("docCount", reply.Int(int64(len(mine))))...)
	if s.hasFrom {
		fields = append(fields, pair("from", reply.Number(s.from))...)
	}
	if s.hasTo {
		fields = append(fields, pair("to", reply.Number(s.to))...)
	}
	return g.bucket(a, mine, fields...)
}

func rangeBuckets(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	list := a.args.list("ranges")
	keyed := a.args.flag("keyed", false)
	if len(list) == 0 {
		return v, search.Errorf("Aggregation '%s': $range needs 'ranges'", a.alias)
	}
	var out []reply.Value
	for _, e := range list {
		s, err := a.span(e)
		if err != nil {
			return v, err
		}
		b, err := s.bucket(g, a, docs)
		if err != nil {
			return v, err
		}
		if keyed {
			out = append(out, reply.Bulk(s.key))
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
