package searchindex

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// The model of aggregations keeps what was put into the documents and computes every answer from that by its definition:
// by sorting, counting and adding what a walk over all documents finds.

var aggregateDefinition = search.Definition{Language: "english", Schema: []search.Field{
	{Name: "k", Type: search.Keyword, Fast: true}, {Name: "n", Type: search.I64, Fast: true}, {Name: "p", Type: search.F64, Fast: true},
	{Name: "b", Type: search.Bool, Fast: true}, {Name: "f", Type: search.Facet, Fast: true},
}}

// plain is a document as it was drawn.
type plain struct {
	name  string
	words []string
	whole []int64
	price []float64
	flag  []bool
	path  string
}

func drawPlain(t *rapid.T, name string) plain {
	d := plain{name: name}
	for range rapid.IntRange(0, 3).Draw(t, "words") {
		d.words = append(d.words, rapid.SampledFrom([]string{"ant", "bee", "cat", "dog", "eel"}).Draw(t, "word"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "numbers") {
		d.whole = append(d.whole, rapid.Int64Range(-5, 5).Draw(t, "number"))
	}
	if rapid.Bool().Draw(t, "priced") {
		d.price = []float64{float64(rapid.IntRange(-20, 20).Draw(t, "price")) / 4}
	}
	if rapid.Bool().Draw(t, "flagged") {
		d.flag = []bool{rapid.Bool().Draw(t, "flag")}
	}
	d.path = rapid.SampledFrom([]string{"", "/a", "/a/b", "/a/b/c", "/a/c", "/b", "/b/a/x"}).Draw(t, "path")
	return d
}

// document is the same as the index takes it.
func (p *plain) document() *document {
	d := &document{name: p.name, fields: make([]values, len(aggregateDefinition.Schema))}
	for _, w := range p.words {
		d.fields[0].text(&aggregateDefinition.Schema[0], w)
	}
	for _, n := range p.whole {
		d.fields[1].numbers = append(d.fields[1].numbers, orderedInt(n))
	}
	for _, f := range p.price {
		d.fields[2].numbers = append(d.fields[2].numbers, orderedFloat(f))
	}
	for _, b := range p.flag {
		n := uint64(0)
		if b {
			n = 1
		}
		d.fields[3].numbers = append(d.fields[3].numbers, n)
	}
	d.fields[4].text(&aggregateDefinition.Schema[4], p.path)
	return d
}

// zoo are documents and an index of them.
type zoo struct {
	x    *index
	docs []plain
}

func drawZoo(t *rapid.T) *zoo {
	z := &zoo{x: newIndex(&aggregateDefinition, nil)}
	for i := range rapid.IntRange(0, 25).Draw(t, "documents") {
		p := drawPlain(t, fmt.Sprint("d", i))
		d := p.document()
		if d.valid() == nil {
			continue
		}
		z.x.put(d)
		if rapid.IntRange(0, 4).Draw(t, "removed") == 0 {
			z.x.remove(p.name)
			continue
		}
		z.docs = append(z.docs, p)
	}
	return z
}

// aggregate runs one aggregation over all documents and returns its result.
func (z *zoo) aggregate(t *rapid.T, spec string) reply.Value {
	v, err := z.x.aggregate([]byte(`{}`), []byte(`{"x":`+spec+`}`), env.At(0), unlimited())
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return v.Elems()[1]
}

// member is a member of a result.
func member(v reply.Value, name string) reply.Value {
	for i, list := 0, v.Elems(); i+1 < len(list); i += 2 {
		if list[i].Text() == name {
			return list[i+1]
		}
	}
	return reply.Error("there is no " + name)
}

// render is a result as a text that two ways of computing it agree on: numbers have nine digits.
func render(v reply.Value) string {
	switch v.Kind() {
	case reply.KindNil, reply.KindNilArray:
		return "null"
	case reply.KindInt:
		return digits(float64(v.Int()))
	case reply.KindDouble:
		return digits(v.Float())
	case reply.KindArray:
		var parts []string
		for _, e := range v.Elems() {
			parts = append(parts, render(e))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case reply.KindMap:
		var parts []string
		for i, list := 0, v.Elems(); i+1 < len(list); i += 2 {
			parts = append(parts, list[i].Text()+"="+render(list[i+1]))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return v.Text()
}

func digits(f float64) string {
	if math.Abs(f) < 1e-9 {
		f = 0 // of either sign, and what adding leaves of it
	}
	return strconv.FormatFloat(f, 'g', 9, 64)
}

func (z *zoo) expect(t *rapid.T, spec, got, want string) {
	if got != want {
		t.Fatalf("%s of %+v:\n%s, want\n%s", spec, z.docs, got, want)
	}
}

// numbers are all values of a field in the order of the documents; missing stands for documents without one, if it is given.
func (z *zoo) numbers(field string, missing *float64) (list []float64) {
	for _, d := range z.docs {
		mine := d.numbers(field)
		if len(mine) == 0 && missing != nil {
			mine = []float64{*missing}
		}
		list = append(list, mine...)
	}
	return list
}

func (p *plain) numbers(field string) (list []float64) {
	switch field {
	case "n":
		for _, n := range p.whole {
			list = append(list, float64(n))
		}
	case "p":
		list = append(list, p.price...)
	case "b":
		for _, b := range p.flag {
			list = append(list, map[bool]float64{true: 1}[b])
		}
	}
	return list
}

// keys are the different values of a document as texts.
func (p *plain) keys(field string) (list []string) {
	if field == "k" {
		list = slices.Clone(p.words)
	}
	for _, f := range p.numbers(field) {
		list = append(list, digits(f))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func orNull(list []float64, f float64) string {
	if len(list) == 0 || math.IsNaN(f) {
		return "null"
	}
	return digits(f)
}

func sum(list []float64) (s float64) {
	for _, f := range list {
		s += f
	}
	return s
}

func least(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Min(list)
}

func greatest(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Max(list)
}

// TestMetricsAgainstModel compares the aggregations that come to numbers.
func TestMetricsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZoo(t)
		field := rapid.SampledFrom([]string{"n", "p", "b"}).Draw(t, "field")
		option := ""
		var missing *float64
		if rapid.Bool().Draw(t, "has missing") && field != "b" {
			f := float64(rapid.IntRange(-3, 3).Draw(t, "missing"))
			missing, option = &f, fmt.Sprintf(`,"missing":%v`, f)
		}
		list := z.numbers(field, missing)
		n := float64(len(list))
		for op, want := range map[string]string{
			"$sum": orNull(list, sum(list)), "$avg": orNull(list, sum(list)/n),
			"$min": orNull(list, least(list)), "$max": orNull(list, greatest(list)),
		} {
			spec := fmt.Sprintf(`{%q:{"field":%q%s}}`, op, field, option)
			z.expect(t, spec, render(member(z.aggregate(t, spec), "value")), want)
		}
		spec := fmt.Sprintf(`{"$stats":{"field":%q%s}}`, field, option)
		z.expect(t, spec, render(z.aggregate(t, spec)), fmt.Sprintf("{count=%s min=%s max=%s sum=%s avg=%s}", digits(n),
			orNull(list, least(list)), orNull(list, greatest(list)), digits(sum(list)), orNull(list, sum(list)/n)))
		z.counts(t, field, option, missing != nil)
	})
}

// counts compares $count and $cardinality.
func (z *zoo) counts(t *rapid.T, field, option string, missing bool) {
	having, seen := 0, map[string]bool{}
	for _, d := range z.docs {
		keys := d.keys(field)
		if len(keys) > 0 || missing {
			having++
		}
		for _, k := range keys {
			seen[k] = true
		}
	}
	spec := fmt.Sprintf(`{"$count":{"field":%q%s}}`, field, option)
	z.expect(t, spec, render(z.aggregate(t, spec)), fmt.Sprintf("{value=%d}", having))
	if !missing {
		spec = fmt.Sprintf(`{"$cardinality":{"field":%q}}`, field)
		z.expect(t, spec, render(z.aggregate(t, spec)), fmt.Sprintf("{value=%d}", len(seen)))
	}
}

// TestExtendedStatsAgainstModel compares variances with their definitions.
func TestExtendedStatsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZoo(t)
		sigma := float64(rapid.IntRange(0, 3).Draw(t, "sigma"))
		list := z.numbers("p", nil)
		n, mean := float64(len(list)), sum(list)/float64(len(list))
		squares, apart := 0.0, 0.0
		for _, f := range list {
			squares, apart = squares+f*f, apart+(f-mean)*(f-mean)
		}
		population, sample := apart/n, apart/(n-1)
		if len(list) < 2 {
			sample = math.NaN()
		}
		spec := fmt.Sprintf(`{"$extendedStats":{"field":"p","sigma":%v}}`, sigma)
		v := z.aggregate(t, spec)
		for name, want := range map[string]float64{
			"sumOfSquares": squares, "variance": population, "variancePopulation": population, "varianceSampling": sample,
			"stdDeviation": math.Sqrt(population), "stdDeviationPopulation": math.Sqrt(population), "stdDeviationSampling": math.Sqrt(sample),
		} {
			z.expect(t, spec+" "+name, render(member(v, name)), orNull(list, want))
		}
		bounds := member(v, "stdDeviationBounds")
		for name, want := range map[string]float64{
			"upper": mean + sigma*math.Sqrt(population), "lower": mean - sigma*math.Sqrt(population),
			"upperSampling": mean + sigma*math.Sqrt(sample), "lowerSampling": mean - sigma*math.Sqrt(sample),
		} {
			z.expect(t, spec+" "+name, render(member(bounds, name)), orNull(list, want))
		}
	})
}

// TestPercentilesAgainstModel compares them with the interpolation between the nearest two of the sorted values.
func TestPercentilesAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZoo(t)
		list := slices.Sorted(slices.Values(z.numbers("n", nil)))
		percents := rapid.SliceOfN(rapid.IntRange(0, 100), 1, 6).Draw(t, "percents")
		var words, want []string
		for _, p := range percents {
			words = append(words, fmt.Sprint(p))
			value := "null"
			if len(list) > 0 {
				at := float64(p) / 100 * float64(len(list)-1)
				low, high := list[int(math.Floor(at))], list[int(math.Ceil(at))]
				value = digits(low + (at-math.Floor(at))*(high-low))
			}
			want = append(want, fmt.Sprintf("{key=%d value=%s}", p, value))
		}
		spec := fmt.Sprintf(`{"$percentiles":{"field":"n","keyed":false,"percents":[%s]}}`, strings.Join(words, ","))
		z.expect(t, spec, render(z.aggregate(t, spec)), "{values=["+strings.Join(want, " ")+"]}")
	})
}

// bin is a bucket of the model.
type bin struct {
	key    string
	number float64
	docs   []plain
}

func (b *bin) rank() (f float64, any bool) {
	z := zoo{docs: b.docs}
	list := z.numbers("p", nil)
	return sum(list), len(list) > 0
}

// show is a bucket with the sum of prices below it.
func (b *bin) show() string {
	total := "null"
	if f, any := b.rank(); any {
		total = digits(f)
	}
	return fmt.Sprintf("docCount=%d s={value=%s}}", len(b.docs), total)
}

// bins are documents by the values of a field, in the order of these.
func (z *zoo) bins(field string) (list []*bin) {
	found := map[string]*bin{}
	for _, d := range z.docs {
		for _, k := range d.keys(field) {
			if found[k] == nil {
				n, _ := strconv.ParseFloat(k, 64) // texts have none and are in the order of their bytes
				found[k] = &bin{key: k, number: n}
				list = append(list, found[k])
			}
			found[k].docs = append(found[k].docs, d)
		}
	}
	slices.SortFunc(list, func(a, b *bin) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.key, b.key)) })
	return list
}

// TestTermsAgainstModel compares buckets by value: their order, which there are, and what is left out.
func TestTermsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZoo(t)
		field := rapid.SampledFrom([]string{"k", "n"}).Draw(t, "field")
		least, size := rapid.IntRange(1, 3).Draw(t, "least"), rapid.IntRange(1, 6).Draw(t, "size")
		by := rapid.SampledFrom([]string{"count", "key", "s"}).Draw(t, "by")
		direction := rapid.SampledFrom([]string{"asc", "desc"}).Draw(t, "direction")
		exclude := rapid.Bool().Draw(t, "exclude")
		option := ""
		if exclude {
			option = `,"exclude":"a.*|-?1|[d-f]..","include":"(.|\\n)*"`
		}
		spec := fmt.Sprintf(`{"$terms":{"field":%q,"size":%d,"minDocCount":%d,"order":{%q:%q}%s},"$aggs":{"s":{"$sum":{"field":"p"}}}}`,
			field, size, least, by, direction, option)
		list := slices.DeleteFunc(z.bins(field), func(b *bin) bool {
			return len(b.docs) < least || exclude && slices.Contains([]string{"ant", "dog", "eel", "1", "-1"}, b.key)
		})
		sortBins(list, by, direction == "asc")
		others := 0
		var want []string
		for i, b := range list {
			if i >= size {
				others += len(b.docs)
				continue
			}
			want = append(want, fmt.Sprintf("{key=%s %s", b.key, b.show()))
		}
		z.expect(t, spec, render(z.aggregate(t, spec)),
			fmt.Sprintf("{buckets=[%s] sumOtherDocCount=%d docCountErrorUpperBound=0}", strings.Join(want, " "), others))
	})
}

// sortBins brings bins, which are in the order of their keys, into another one.
func sortBins(list []*bin, by string, up bool) {
	slices.SortStableFunc(list, func(a, b *bin) int {
		c := 0
		switch by {
		case "count":
			c = len(a.docs) - len(b.docs)
		case "key":
			c = cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.key, b.key))
		default:
			x, hasX := a.rank()
			y, hasY := b.rank()
			if hasX != hasY { // those without come last in either direction
				return map[bool]int{true: -1, false: 1}[hasX]
			}
			c = cmp.Compare(x, y)
		}
		if !up {
			c = -c
		}
		return c
	})
}

// TestRangesAgainstModel compares buckets by ranges, which may overlap and be open.
func TestRangesAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZoo(t)
		var ranges, want []string
		for range rapid.IntRange(1, 4).Draw(t, "ranges") {
			from, to := rapid.IntRange(-6, 6).Draw(t, "from"), rapid.IntRange(-6, 6).Draw(t, "to")
			open := rapid.SampledFrom([]string{"neither", "from", "to", "both"}).Draw(t, "open")
			hasFrom, hasTo := open == "neither" || open == "to", open == "neither" || open == "from"
			b := bin{}
			for _, d := range z.docs {
				if slices.ContainsFunc(d.numbers("n"), func(f float64) bool {
					return (!hasFrom || f >= float64(from)) && (!hasTo || f < float64(to))
				}) {
					b.docs = append(b.docs, d)
				}
			}
			var members []string
			low, high, ends := "*", "*", ""
			if hasFrom {
				low, members, ends = fmt.Sprint(from), append(members, fmt.Sprintf(`"from":%d`, from)), ends+fmt.Sprintf(" from=%d", from)
			}
			if hasTo {
				high, members, ends = fmt.Sprint(to), append(members, fmt.Sprintf(`"to":%d`, to)), ends+fmt.Sprintf(" to=%d", to)
			}
			ranges = append(ranges, "{"+strings.Join(members, ",")+"}")
			want = append(want, fmt.Sprintf("{key=%s-%s docCount=%d%s}", low, high, len(b.docs), ends))
		}
		spec := fmt.Sprintf(`{"$range":{"field":"n","ranges":[%s]}}`, strings.Join(ranges, ","))
		z.expect(t, spec, render(z.aggregate(t, spec)), "{buckets=["+strings.Join(want, " ")+"]}")
	})
}

// TestHistogramsAgainstModel compares buckets of equal length, with and without the empty ones between.
func TestHistogramsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZoo(t)
		step, offset := rapid.IntRange(1, 4).Draw(t, "step"), rapid.IntRange(-2, 2).Draw(t, "offset")
		least := rapid.IntRange(0, 2).Draw(t, "least")
		option, low, high := "", math.Inf(-1), math.Inf(1)
		if rapid.Bool().Draw(t, "hard") {
			low, high = float64(rapid.IntRange(-5, 0).Draw(t, "low")), float64(rapid.IntRange(0, 5).Draw(t, "high"))
			option = fmt.Sprintf(`,"hardBounds":{"min":%v,"max":%v}`, low, high)
		}
		first, last := math.MaxInt, math.MinInt
		counts := map[int]int{}
		for _, d := range z.docs {
			mine := map[int]bool{}
			for _, f := range d.numbers("n") {
				if f >= low && f <= high {
					k := int(math.Floor((f - float64(offset)) / float64(step)))
					mine[k] = true
					first, last = min(first, k), max(last, k)
				}
			}
			for k := range mine {
				counts[k]++
			}
		}
		if rapid.Bool().Draw(t, "extended") {
			option += `,"extendedBounds":{"min":-7,"max":7}`
			first = min(first, int(math.Floor(float64(-7-offset)/float64(step))))
			last = max(last, int(math.Floor(float64(7-offset)/float64(step))))
		}
		var want []string
		for k := first; k <= last; k++ {
			if counts[k] >= least {
				want = append(want, fmt.Sprintf("{key=%d docCount=%d}", k*step+offset, counts[k]))
			}
		}
		spec := fmt.Sprintf(`{"$histogram":{"field":"n","interval":%d,"offset":%d,"minDocCount":%d%s}}`, step, offset, least, option)
		z.expect(t, spec, render(z.aggregate(t, spec)), "{buckets=["+strings.Join(want, " ")+"]}")
	})
}

// combos are the buckets of a composite of words and of numbers in pairs, in order.
func (z *zoo) combos(down, missing bool) (list []*bin) {
	words := []string{"ant", "bee", "cat", "dog", "eel"}
	if missing {
		words = append([]string{""}, words...) // before all others, because the order is ascending
	}
	var numbers []float64
	for f := -6.0; f <= 5; f += 2 {
		numbers = append(numbers, f)
	}
	if down {
		slices.Reverse(numbers)
	}
	for _, w := range words {
		for _, f := range numbers {
			b := &bin{key: fmt.Sprintf("{w=%s h=%v}", cmp.Or(w, "null"), f)}
			for _, d := range z.docs {
				hasWord := slices.Contains(d.words, w) || w == "" && len(d.words) == 0
				if hasWord && slices.ContainsFunc(d.numbers("n"), func(n float64) bool { return n >= f && n < f+2 }) {
					b.docs = append(b.docs, d)
				}
			}
			if len(b.docs) > 0 {
				list = append(list, b)
			}
		}
	}
	return list
}

// TestCompositeAgainstModel goes through all pages of a composite, each after the key of the one before.
func TestCompositeAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZoo(t)
		size := rapid.IntRange(1, 7).Draw(t, "size")
		down, missing := rapid.Bool().Draw(t, "down"), rapid.Bool().Draw(t, "missing")
		order := map[bool]string{true: "desc", false: "asc"}[down]
		asArray := rapid.Bool().Draw(t, "array")
		want := z.combos(down, missing)
		after, seen := "", 0
		for page := 0; ; page++ {
			spec := fmt.Sprintf(`{"$composite":{"size":%d,"sources":[{"w":{"$terms":{"field":"k","missingBucket":%v}}},{"h":{"$histogram":{"field":"n","interval":2,"order":%q}}}]%s},"$aggs":{"s":{"$sum":{"field":"p"}}}}`,
				size, missing, order, after)
			v := z.aggregate(t, spec)
			var text []string
			for _, b := range want[seen:min(seen+size, len(want))] {
				text = append(text, fmt.Sprintf("{key=%s %s", b.key, b.show()))
			}
			z.expect(t, spec, render(member(v, "buckets")), "["+strings.Join(text, " ")+"]")
			if len(text) == 0 {
				break
			}
			seen += len(text)
			key := member(v, "afterKey").Elems()
			after = fmt.Sprintf(`,"after":{%q:%q,%q:%q}`, key[0].Text(), key[1].Text(), key[2].Text(), key[3].Text())
			if asArray {
				after = fmt.Sprintf(`,"after":[%q,%q,%q,%q]`, key[0].Text(), key[1].Text(), key[2].Text(), key[3].Text())
			}
		}
		if seen != len(want) {
			t.Fatalf("the pages have %d buckets, want %d", seen, len(want))
		}
	})
}

// below are the counts of paths below one, computed level by level.
func (z *zoo) below(parent string, depth, size int, byPath bool) string {
	counts := map[string]int{}
	for _, d := range z.docs {
		rest, ok := strings.CutPrefix(d.path, parent+"/")
		if name, _, _ := strings.Cut(rest, "/"); ok {
			counts[parent+"/"+name]++
		}
	}
	var paths []string
	for p := range counts {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		if byPath {
			return strings.Compare(a, b)
		}
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	others := 0
	var shown []string
	for i, p := range paths {
		if i >= size {
			others += counts[p]
			continue
		}
		text := fmt.Sprintf("{path=%s docCount=%d", p, counts[p])
		if depth > 1 {
			text += " " + z.below(p, depth-1, size, byPath)
		} else {
			text += " sumOtherDocCount=0"
		}
		shown = append(shown, text+"}")
	}
	if len(shown) == 0 {
		return fmt.Sprintf("sumOtherDocCount=%d", others)
	}
	return fmt.Sprintf("sumOtherDocCount=%d children=[%s]", others, strings.Join(shown, " "))
}

// TestFacetsAgainstModel compares the counts of paths at each level.
func TestFacetsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := drawZoo(t)
		root := rapid.SampledFrom([]string{"/", "/a", "/a/", "/a/b", "/nothing"}).Draw(t, "root")
		depth, size := rapid.IntRange(1, 4).Draw(t, "depth"), rapid.IntRange(1, 3).Draw(t, "size")
		byPath := rapid.Bool().Draw(t, "by path")
		order := `{"count":"desc"}`
		if byPath {
			order = `{"path":"asc"}`
		}
		spec := fmt.Sprintf(`{"$facet":{"field":"f","path":%q,"depth":%d,"size":%d,"order":%s}}`, root, depth, size, order)
		trimmed := strings.TrimSuffix(root, "/")
		want := z.below(trimmed, depth, size, byPath)
		if !strings.Contains(want, "children=") {
			want += " children=[]"
		}
		z.expect(t, spec, render(z.aggregate(t, spec)), fmt.Sprintf("{path=%s %s}", cmp.Or(trimmed, "/"), want))
	})
}
