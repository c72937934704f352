package searchindex

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// interval is a duration such as 30m or 1d, in milliseconds.
func interval(text string) (float64, bool) {
	sign := 1.0
	if rest, minus := strings.CutPrefix(text, "-"); minus {
		sign, text = -1, rest
	}
	text = strings.TrimPrefix(text, "+")
	for _, unit := range []struct {
		name string
		ms   float64
	}{{"ms", 1}, {"s", 1000}, {"m", 60_000}, {"h", 3_600_000}, {"d", 86_400_000}} {
		if digits, ok := strings.CutSuffix(text, unit.name); ok {
			n, err := strconv.ParseUint(digits, 10, 32)
			return sign * float64(n) * unit.ms, err == nil
		}
	}
	return 0, false
}

// maxBucketNumber bounds the distance of a bucket from the offset, in intervals: beyond it doubles are not exact.
const maxBucketNumber = 1 << 53

// histogramSpec places the buckets of a histogram: bucket k begins at k*step+offset.
type histogramSpec struct {
	step, offset float64
	// dates says that values are times.
	dates bool
	// least is the minimum number of documents of a shown bucket.
	least int
	keyed bool
	// low and high are the values that count.
	low, high float64
}

func (a *aggregation) histogramSpec() (h histogramSpec, err error) {
	h = histogramSpec{dates: a.op == "$dateHistogram", low: math.Inf(-1), high: math.Inf(1)}
	steps := a.numberSteps
	if h.dates {
		steps = a.dateSteps
	}
	if h.step, h.offset, err = steps(); err != nil {
		return h, err
	}
	h.least, h.keyed = a.args.whole("minDocCount", 0, 0), a.args.flag("keyed", false)
	if b := a.args.object("hardBounds"); b != nil {
		if f, ok := a.edge(b, "min"); ok {
			h.low = f
		}
		if f, ok := a.edge(b, "max"); ok {
			h.high = f
		}
		a.args.fail(b.done("hardBounds"))
	}
	return h, nil
}

// dateSteps reads the step and the offset of a $dateHistogram, in milliseconds.
func (a *aggregation) dateSteps() (step, offset float64, err error) {
	step, ok := interval(a.args.text("fixedInterval", ""))
	if !ok || step <= 0 {
		return 0, 0, search.Errorf("Aggregation '%s': 'fixedInterval' must be a number with ms, s, m, h or d, such as \"1d\"", a.alias)
	}
	if text := a.args.text("offset", ""); text != "" {
		if offset, ok = interval(text); !ok {
			return 0, 0, search.Errorf("Aggregation '%s': 'offset' must be a number with ms, s, m, h or d, such as \"-6h\"", a.alias)
		}
	}
	return step, offset, nil
}

// numberSteps reads the step and the offset of a $histogram.
func (a *aggregation) numberSteps() (step, offset float64, err error) {
	step, ok := a.args.number("interval")
	if !ok || step <= 0 {
		return 0, 0, search.Errorf("Aggregation '%s': 'interval' must be a number above 0", a.alias)
	}
	offset, _ = a.args.number("offset")
	return step, offset, nil
}

// number is the bucket that a value is in.
func (s *histogramSpec) number(a *aggregation, f float64) int64 {
	k := math.Floor((f - s.offset) / s.step)
	if !(math.Abs(k) <= maxBucketNumber) {
		a.args.fail(search.Errorf("Aggregation '%s': the interval is too small for the values", a.alias))
		return 0
	}
	return int64(k)
}

func histogram(g *aggregator, a *aggregation, docs []uint32) (v reply.Value, err error) {
	h, err := a.histogramSpec()
	if err != nil {
		return v, err
	}
	groups, first, last := h.groups(a, docs)
	first, last = h.extend(a, first, last)
	if a.args.err != nil {
		return v, a.args.err
	}
	keys, err := h.keys(a, groups, first, last)
	if err != nil {
		return v, err
	}
	var out []reply.Value
	for _, k := range keys {
		if len(groups[k]) < h.least {
			continue
		}
		name, b, err := h.bucket(g, a, k, groups[k])
		if err != nil {
			return v, err
		}
		if h.keyed {
			out = append(out, reply.Bulk(name))
		}
		out = append(out, b)
	}
	return bucketList(h.keyed, out), nil
}

// extend widens the first and last bucket to "extendedBounds".
func (s *histogramSpec) extend(a *aggregation, first, last int64) (int64, int64) {
	b := a.args.object("extendedBounds")
	if b == nil {
		return first, last
	}
	from, ok1 := a.edge(b, "min")
	to, ok2 := a.edge(b, "max")
	a.args.fail(b.done("extendedBounds"))
	if ok1 && ok2 && from <= to {
		first, last = min(first, s.number(a, from)), max(last, s.number(a, to))
	}
	return first, last
}

// keys are the buckets in order: those with documents, or all from the first to the last if empty ones count.
func (s *histogramSpec) keys(a *aggregation, groups map[int64][]uint32, first, last int64) (keys []int64, err error) {
	if s.least > 0 || first > last {
		return slices.Sorted(maps.Keys(groups)), nil
	}
	if float64(last)-float64(first) >= maxBuckets {
		return nil, search.Errorf("Aggregation '%s' makes more than %d buckets", a.alias, maxBuckets)
	}
	for k := first; k <= last; k++ {
		keys = append(keys, k)
	}
	return keys, nil
}

// groups are the documents of each bucket that has some; first and last are its first and last one, in the wrong order if
// there is none.
func (s *histogramSpec) groups(a *aggregation, docs []uint32) (groups map[int64][]uint32, first, last int64) {
	groups, first, last = map[int64][]uint32{}, math.MaxInt64, math.MinInt64
	var one [1]uint64
	for _, doc := range docs {
		for _, n := range a.f.column.values(doc, &one) {
			f := a.f.asFloat(n)
			if f < s.low || f > s.high {
				continue
			}
			k := s.number(a, f)
			if list := groups[k]; len(list) == 0 || list[len(list)-1] != doc {
				groups[k] = append(list, doc)
			}
			first, last = min(first, k), max(last, k)
		}
	}
	return groups, first, last
}

// bucket is the result of one bucket, with its name.
func (s *histogramSpec) bucket(g *aggregator, a *aggregation, k int64, docs []uint32) (name string, v reply.Value, err error) {
	key := float64(k)*s.step + s.offset
	fields := pair("key", reply.Number(key))
	name = reply.FormatDouble(key)
	if s.dates {
		name = dateText(key)
		fields = append(pair("key", reply.Int(int64(key))), pair("keyAsString", reply.Bulk(name))...)
	}
	v, err = g.bucket(a, docs, append(fields, pair("docCount", reply.Int(int64(len(docs))))...)...)
	return name, v, err
}
