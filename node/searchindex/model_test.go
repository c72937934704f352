package searchindex

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/search"
)

// The model answers every filter by looking at each document by itself, without postings, trees or merges. It is told the
// tree of conditions that the parser made; the parser is tested by the client's program and by TestFilters.
type model struct {
	x    *index
	docs map[string]*document
}

var modelDefinition = search.Definition{Language: "english", Schema: []search.Field{
	{Name: "t", Type: search.Text, NoStem: true}, {Name: "k", Type: search.Keyword}, {Name: "n", Type: search.I64, Fast: true},
	{Name: "f", Type: search.Facet}, {Name: "b", Type: search.Bool, Fast: true},
}}

// lists are the tokens of a field, for each of its values.
func (m *model) lists(d *document, f *field) (lists [][]string) {
	for _, text := range d.fields[slices.Index(m.x.fields, f)].texts {
		if f.Type == search.Text {
			lists = append(lists, f.analyzer.tokens(text))
		} else {
			lists = append(lists, []string{text})
		}
	}
	return lists
}

// length is the number of tokens of a field.
func (m *model) length(d *document, f *field) (n int) {
	for _, list := range m.lists(d, f) {
		n += len(list)
	}
	return n
}

// distance is that of edits, by its recursive definition.
func distance(a, b []rune, swaps bool) int {
	memo := map[[2]int]int{}
	var of func(i, j int) int
	of = func(i, j int) int {
		if i == 0 || j == 0 {
			return i + j
		}
		if d, ok := memo[[2]int{i, j}]; ok {
			return d
		}
		cost := 1
		if a[i-1] == b[j-1] {
			cost = 0
		}
		d := min(of(i-1, j)+1, of(i, j-1)+1, of(i-1, j-1)+cost)
		if swaps && i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
			d = min(d, of(i-2, j-2)+1)
		}
		memo[[2]int{i, j}] = d
		return d
	}
	return of(len(a), len(b))
}

func (f *fuzzy) takes(text string) bool {
	letters := []rune(text)
	if !f.prefix {
		return distance(f.word, letters, f.swaps) <= f.distance
	}
	for n := range len(letters) + 1 {
		if distance(f.word, letters[:n], f.swaps) <= f.distance {
			return true
		}
	}
	return false
}

// frequency returns the number of times that a document has a word or phrase.
func (m *model) frequency(d *document, n node) (times int) {
	switch n := n.(type) {
	case *word:
		for _, list := range m.lists(d, n.f) {
			for _, text := range list {
				if text == n.text || n.f.Type == search.Facet && strings.HasPrefix(text, n.text+"/") {
					times++
				}
			}
		}
	case *phrase:
		for _, list := range m.lists(d, n.f) {
			times += n.inList(list)
		}
		if n.slop > 0 {
			times = min(times, 1)
		}
	}
	return times
}

func (p *phrase) inList(list []string) (times int) {
	is := func(i int, text string) bool {
		return text == p.terms[i] || p.prefix && i == len(p.terms)-1 && strings.HasPrefix(text, p.terms[i])
	}
	var choose func(i, low, high int) bool
	choose = func(i, low, high int) bool {
		if i == len(p.terms) {
			return high-low <= p.slop
		}
		for at, text := range list {
			if is(i, text) && choose(i+1, min(low, at-i), max(high, at-i)) {
				return true
			}
		}
		return false
	}
	if p.slop > 0 {
		if choose(0, math.MaxInt32, math.MinInt32) {
			return 1
		}
		return 0
	}
	for start := range list {
		match := start+len(p.terms) <= len(list)
		for i := 0; match && i < len(p.terms); i++ {
			match = is(i, list[start+i])
		}
		if match {
			times++
		}
	}
	return times
}

// score is the score of a document, false if it does not match.
func (m *model) score(d *document, n node) (float64, bool) {
	switch n := n.(type) {
	case all:
		return 1, true
	case *boost:
		s, ok := m.score(d, n.node)
		return s * n.by, ok
	case *word, *phrase:
		return m.text(d, n)
	case *near:
		for _, list := range m.lists(d, n.f) {
			if slices.ContainsFunc(list, n.z.takes) {
				return 1, true
			}
		}
	case *pattern:
		for _, list := range m.lists(d, n.f) {
			if slices.ContainsFunc(list, n.re.MatchString) {
				return 1, true
			}
		}
	case *bounds:
		if n.none {
			return 0, false
		}
		v := d.fields[slices.Index(m.x.fields, n.f)]
		for _, x := range v.numbers {
			if x >= n.low && x <= n.high {
				return 1, true
			}
		}
		for _, text := range v.texts {
			if !slices.ContainsFunc(n.tests, func(b textBound) bool { return !b.holds(text) }) {
				return 1, true
			}
		}
	case *boolean:
		return m.boolean(d, n)
	}
	return 0, false
}

func (m *model) boolean(d *document, n *boolean) (sum float64, ok bool) {
	for _, c := range n.mustNot {
		if _, match := m.score(d, c); match {
			return 0, false
		}
	}
	any := false
	for _, c := range n.must {
		s, match := m.score(d, c)
		if !match {
			return 0, false
		}
		sum, any = sum+s, true
	}
	for _, c := range n.should {
		if s, match := m.score(d, c); match {
			sum, any = sum+s, true
		}
	}
	return sum, any
}

// text is BM25 by its formula.
func (m *model) text(d *document, n node) (float64, bool) {
	freq := m.frequency(d, n)
	if freq == 0 {
		return 0, false
	}
	var f *field
	var parts []node
	switch n := n.(type) {
	case *word:
		f, parts = n.f, []node{n}
	case *phrase:
		f = n.f
		for i, t := range n.terms {
			if n.prefix && i == len(n.terms)-1 {
				parts = append(parts, &near{f: f, z: fuzzy{word: []rune(t), prefix: true}})
			} else {
				parts = append(parts, &word{f: f, text: t})
			}
		}
	}
	if f.Type != search.Text {
		return 1, true
	}
	total, all := 0, float64(len(m.docs))
	for _, o := range m.docs {
		total += m.length(o, f)
	}
	idf := 0.0
	for _, p := range parts {
		have := 0.0
		for _, o := range m.docs {
			if near, isNear := p.(*near); isNear {
				if _, ok := m.score(o, near); ok {
					have++
				}
			} else if m.frequency(o, p) > 0 {
				have++
			}
		}
		idf += math.Log(1 + (all-have+0.5)/(have+0.5))
	}
	norm := 1 - 0.75 + 0.75*float64(m.length(d, f))/(float64(total)/all)
	return idf * float64(freq) * 2.2 / (float64(freq) + 1.2*norm), true
}

var modelWords = []string{"ab", "abc", "abd", "ba", "bac", "cab", "a", "zz"}

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(modelWords), 0, 5).Draw(t, "words"), " ")
}

func drawDocument(t *rapid.T) *document {
	d := &document{name: fmt.Sprint("d", rapid.IntRange(0, 30).Draw(t, "name")), fields: make([]values, len(modelDefinition.Schema))}
	for range rapid.IntRange(0, 2).Draw(t, "texts") {
		d.fields[0].text(&modelDefinition.Schema[0], drawText(t))
	}
	for range rapid.IntRange(0, 2).Draw(t, "keywords") {
		d.fields[1].text(&modelDefinition.Schema[1], rapid.SampledFrom(modelWords).Draw(t, "keyword"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "numbers") {
		d.fields[2].numbers = append(d.fields[2].numbers, orderedInt(rapid.Int64Range(-3, 3).Draw(t, "number")))
	}
	if rapid.Bool().Draw(t, "facet") {
		d.fields[3].texts = []string{rapid.SampledFrom([]string{"/a", "/a/b", "/a/b/c", "/ab", "/b"}).Draw(t, "path")}
	}
	if rapid.Bool().Draw(t, "bool") {
		d.fields[4].numbers = []uint64{rapid.Uint64Range(0, 1).Draw(t, "flag")}
	}
	return d
}

// drawFilter is a filter in JSON.
func drawFilter(t *rapid.T, depth int) string {
	quoted := func() string { return fmt.Sprintf("%q", drawText(t)) }
	one := func() string { return rapid.SampledFrom(modelWords).Draw(t, "word") }
	n := func() int { return rapid.IntRange(-4, 4).Draw(t, "n") }
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "nested") > 0 {
		var parts []string
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			parts = append(parts, drawFilter(t, depth-1))
		}
		op := rapid.SampledFrom([]string{"$must", "$should", "$or", "$and"}).Draw(t, "op")
		s := fmt.Sprintf(`{%q:[%s]`, op, strings.Join(parts, ","))
		if rapid.Bool().Draw(t, "not") {
			s += fmt.Sprintf(`,"$mustNot":[%s]`, drawFilter(t, depth-1))
		}
		if rapid.Bool().Draw(t, "also") && op != "$should" {
			s += fmt.Sprintf(`,"$should":%s`, drawFilter(t, depth-1))
		}
		if rapid.Bool().Draw(t, "boost") {
			s += `,"$boost":-1.5`
		}
		return s + "}"
	}
	switch rapid.IntRange(0, 13).Draw(t, "kind") {
	case 0:
		return fmt.Sprintf(`{"t":%s}`, quoted())
	case 1:
		return fmt.Sprintf(`{"t":{"$eq":%s}}`, quoted())
	case 2:
		return fmt.Sprintf(`{"t":{"$phrase":{"value":%s,"slop":%d}}}`, quoted(), rapid.IntRange(0, 3).Draw(t, "slop"))
	case 3:
		return fmt.Sprintf(`{"t":{"$phrase":{"value":%s,"prefix":true}}}`, quoted())
	case 4:
		return fmt.Sprintf(`{"t":{"$fuzzy":{"value":%s,"distance":%d,"prefix":%v,"transpositionCostOne":%v}}}`, quoted(),
			rapid.IntRange(0, 2).Draw(t, "distance"), rapid.Bool().Draw(t, "prefix"), rapid.Bool().Draw(t, "swaps"))
	case 5:
		return fmt.Sprintf(`{"t":{"$regex":"%s.?"}}`, one())
	case 6:
		return fmt.Sprintf(`{"t":{"$in":[%s,%s],"$ne":%s}}`, quoted(), quoted(), quoted())
	case 7:
		return fmt.Sprintf(`{"k":{"$in":[%q,%q]}}`, one(), one())
	case 8:
		return fmt.Sprintf(`{"k":{"$gte":%q,"$lt":%q}}`, one(), one())
	case 9:
		return fmt.Sprintf(`{"n":{"$gt":%d,"$lte":%d}}`, n(), n())
	case 10:
		return fmt.Sprintf(`{"n":{"$gte":%d.5}}`, n())
	case 11:
		return fmt.Sprintf(`{"f":%q}`, rapid.SampledFrom([]string{"/a", "/a/", "/a/b", "/b"}).Draw(t, "path"))
	case 12:
		return `{"b":true}`
	}
	return fmt.Sprintf(`{"t":{"$contains":%s}}`, quoted())
}

// TestIndexAgainstModel changes an index at random and compares every answer with that of the model.
func TestIndexAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newIndex(&modelDefinition, nil)
		m := &model{x: x, docs: map[string]*document{}}
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			d := drawDocument(t)
			if d.valid() == nil || rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				x.remove(d.name)
				delete(m.docs, d.name)
				continue
			}
			x.put(d)
			m.docs[d.name] = d
		}
		for range 5 {
			filter := drawFilter(t, 2)
			n, err := x.parseFilter([]byte(filter))
			if err != nil {
				t.Fatalf("%s: %v", filter, err)
			}
			hits, err := x.query(&search.Query{Filter: []byte(filter), Limit: 1000}, env.At(0), unlimited())
			if err != nil {
				t.Fatalf("%s: %v", filter, err)
			}
			got := map[string]float64{}
			for i, h := range hits.List {
				if got[h.Key] = h.Score; i > 0 && h.Score > hits.List[i-1].Score {
					t.Fatalf("%s: out of order: %v", filter, hits.List)
				}
			}
			want := 0
			for name, d := range m.docs {
				s, ok := m.score(d, n)
				if ok {
					want++
				}
				if have, found := got[name]; found != ok || ok && math.Abs(have-s) > 1e-9*(1+math.Abs(s)) {
					t.Fatalf("%s of %s %+v: score %v, found %v; the model has %v, %v", filter, name, d.fields, have, found, s, ok)
				}
			}
			if count, err := x.count([]byte(filter), env.At(0), unlimited()); err != nil || int(count) != want || len(got) != want {
				t.Fatalf("%s: count %d, found %d, want %d (%v)", filter, count, len(got), want, err)
			}
		}
		for name := range m.docs { // an index without documents has nothing left
			x.remove(name)
		}
		for _, f := range x.fields {
			if f.total != 0 || f.terms != nil && f.terms.Len() != 0 || f.numbers != nil && f.numbers.Len() != 0 {
				t.Fatalf("field %s has something left", f.Name)
			}
		}
		kept := indexCost + int64(len(x.fields))*fieldCost // and places, which are used again
		for _, c := range x.contents {
			kept += placeCost*int64(cap(c.streams)) + columnCost*int64(cap(c.column.first))
			if c.terms != nil && c.terms != noTerms || c.numbers != nil && c.numbers != noNumbers {
				kept += treeCost
			}
		}
		if x.bytes != kept {
			t.Fatalf("%d bytes are left, %d of them in use", x.bytes, x.bytes-kept)
		}
	})
}

// FuzzFilter feeds anything as filter and aggregations to an index; nothing may panic.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{`{}`, `{"t":"ab"}`, `{"t":{"$fuzzy":{"value":"a","distance":2}}}`, `{"n":{"$gt":1e300}}`, `{"$must":[{"$mustNot":{"b":true}}]}`,
		`{"x":{"$terms":{"field":"k"},"$aggs":{"y":{"$avg":{"field":"n"}}}}}`, `{"x":{"$composite":{"sources":[{"a":{"$histogram":{"field":"n","interval":2}}}]}}}`,
		`{"x":{"$histogram":{"field":"n","interval":1e-300}}}`, `{"x":{"$facet":{"field":"f","path":"/"}}}`, `{"x":{"$percentiles":{"field":"n"}}}`} {
		f.Add([]byte(s))
	}
	x := newIndex(&modelDefinition, nil)
	x.put(&document{name: "d", fields: []values{{texts: []string{"ab cd"}}, {texts: []string{"ab"}}, {numbers: []uint64{orderedInt(5), orderedInt(math.MaxInt64)}}, {texts: []string{"/a/b"}}, {numbers: []uint64{1}}}})
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _ = x.query(&search.Query{Filter: text, Limit: 10}, env.At(0), unlimited())
		_, _ = x.aggregate([]byte("{}"), text, env.At(0), unlimited())
	})
}

func TestAnalysis(t *testing.T) {
	a := analyzer{stem: stemmers["english"]}
	for text, want := range map[string][]string{
		"user@example.com": {"user", "exampl", "com"}, "SKU-12345-BLK": {"sku", "12345", "blk"}, "running runs": {"run", "run"},
		"studies studied": {"studi", "studi"}, "experiments": {"experi"}, "Größe – 東京": {"größe", "東京"}, "": nil, "... !": nil,
		strings.Repeat("x", 41) + " y": {"y"},
	} {
		if got := a.tokens(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := (analyzer{whole: true}).tokens("SKU-1 a"); !slices.Equal(got, []string{"SKU-1 a"}) {
		t.Errorf("whole: %q", got)
	}
	if regexp.MustCompile("^(?:a|b)$").MatchString("ab") {
		t.Error("alternatives are not anchored")
	}
	for _, language := range search.Languages {
		if _, ok := stemmers[language]; !ok && language != "greek" {
			t.Errorf("no stemmer for %s", language)
		}
	}
}
