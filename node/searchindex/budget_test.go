package searchindex

import (
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/search"
)

// unlimited is the budget of a search that no limit ends.
func unlimited() *budget { return &budget{left: math.MaxInt64} }

// clauses are conditions of every kind that look at many terms or documents, and how often a filter has them.
var clauses = map[string]string{
	"$eq": `{"body":{"$eq":"W"}}`, "$in": `{"body":{"$in":["W","W"]}}`, "$phrase": `{"body":{"$phrase":"W W"}}`,
	"$smart": `{"body":"W W"}`, "$fuzzy": `{"body":{"$fuzzy":"W"}}`, "$regex": `{"body":{"$regex":"(.*a){10}b"}}`,
	"$gt": `{"price":{"$gt":1}}`, "all": `{}`, "texts": `{"name":{"$gt":"z"}}`,
}

// TestSearchesHaveABudgetAndAnEnd: a search that needs more work than it may do ends with an error that says so, whatever its
// clause, and so does one whose client has gone or whose node stops. More clauses are more work.
func TestSearchesHaveABudgetAndAnEnd(t *testing.T) {
	x, text := benchIndex(2000)
	used := func(filter string, b *budget) int64 {
		left := b.left
		if _, err := x.query(&search.Query{Filter: []byte(filter), Limit: 10}, env.At(0), b); err != b.err {
			t.Fatalf("%s: %v and %v", filter, err, b.err)
		}
		return left - b.left
	}
	some := strings.Fields(text(rand.New(rand.NewSource(3)), 1))[0]
	for kind, clause := range clauses {
		clause = strings.ReplaceAll(clause, "W", some)
		one := used(clause, &budget{left: 1 << 40})
		many := used(`{"$or":[`+strings.Repeat(clause+",", 19)+clause+`]}`, &budget{left: 1 << 40})
		if kind == "all" {
			many = 20 * one
		}
		if one < 4 || many < 4*one {
			t.Errorf("%s counts as %d steps, 20 of them as %d", kind, one, many)
		}
		if b := (&budget{left: one - 1}); used(clause, b) == 0 || b.err != errWork {
			t.Errorf("%s ends with %v beyond its budget", kind, b.err)
		}
	}
	// What was found is copied for each condition that is added.
	alone := used(`{}`, &budget{left: 1 << 40})
	joined := used(`{"$or":[{}`+strings.Repeat(`,{"name":{"$eq":"none"}}`, 50)+`]}`, &budget{left: 1 << 40})
	if joined < 50*2000/docsPerStep+alone {
		t.Errorf("conditions beside %d documents count as %d steps, without them as %d", 2000, joined, alone)
	}
	gone := make(chan struct{})
	close(gone)
	heavy := `{"$or":[` + strings.TrimSuffix(strings.Repeat(clauses["$regex"]+",", 50), ",") + `]}`
	for want, b := range map[error]*budget{errGone: {left: 1 << 40, done: gone}, errStopped: {left: 1 << 40, closed: gone}} {
		if n := used(heavy, b); b.err != want || n > 20*stepsPerCheck {
			t.Errorf("%v after %d steps, want %v", b.err, n, want)
		}
	}
	b := &budget{left: 100}
	if _, err := x.aggregate([]byte(`{}`), []byte(`{"a":{"$avg":{"field":"price"}}}`), env.At(0), b); err != errWork {
		t.Errorf("an aggregation beyond its budget: %v", err)
	}
	if _, err := x.query(&search.Query{Filter: []byte(`{"body":{"$regex":"` + strings.Repeat("a{1000}", 100) + `"}}`), Limit: 1}, env.At(0), unlimited()); err != errProgram {
		t.Errorf("a large expression: %v", err)
	}
}

// TestHighlightsAreWork: marking words is work of the search, by the length of the value and of what is put around the words.
func TestHighlightsAreWork(t *testing.T) {
	x, _ := benchIndex(10)
	told := int64(0)
	b := &budget{left: 1 << 40, tell: func(n int64) { told += n }}
	h, err := x.query(&search.Query{Filter: []byte(`{"body":{"$phrase":{"value":"a b","prefix":true}}}`), Limit: 1, Highlight: []string{"body"}}, env.At(0), b)
	if err != nil {
		t.Fatal(err)
	}
	of := func(value, open string) int64 {
		before := told
		h.Highlight("body", value, open, "")
		return told - before
	}
	for what, value := range map[string]string{"words": strings.Repeat("word ", 1000), "marks": strings.Repeat("a ", 1000)} {
		one, four := of(value, "<b>"), of(strings.Repeat(value, 4), "<b>")
		if one < int64(len(value))/markedPerStep || four < 3*one {
			t.Errorf("%s: %d steps for %d bytes, %d for four times as many", what, one, len(value), four)
		}
	}
	if short, long := of(strings.Repeat("a ", 1000), ""), of(strings.Repeat("a ", 1000), strings.Repeat("<", 512)); long < short+1000*512/markedPerStep {
		t.Errorf("1000 marks are %d steps, long ones %d", short, long)
	}
	b.left = 100
	if got := h.Highlight("body", strings.Repeat("a ", 100_000), "<b>", "</b>"); strings.Contains(got, "<b>") || b.err != errWork {
		t.Errorf("words are marked beyond the budget: %v", b.err)
	}
}
