package search

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/search"
)

// clauses are conditions of every kind that look at many terms or documents, and how often a filter has them.
var clauses = map[string]string{
	"$eq": `{"body":{"$eq":"W"}}`, "$in": `{"body":{"$in":["W","W"]}}`, "$phrase": `{"body":{"$phrase":"W W"}}`,
	"$smart": `{"body":"W W"}`, "$fuzzy": `{"body":{"$fuzzy":"W"}}`, "$regex": `{"body":{"$regex":"(.*a){10}b"}}`,
	"$gt": `{"price":{"$gt":1}}`, "all": `{}`,
}

// TestSearchesHaveABudgetAndAnEnd: a search that needs more work than it may do ends with an error that says so, whatever its
// clause, and so does one whose client has gone or whose node stops. More clauses are more work.
func TestSearchesHaveABudgetAndAnEnd(t *testing.T) {
	x, text := benchIndex(2000)
	used := func(filter string, b *budget) int64 {
		left := b.left
		if _, err := x.query(&search.Query{Filter: []byte(filter), Limit: 10}, 0, b); err != b.err {
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
	gone := make(chan struct{})
	close(gone)
	heavy := `{"$or":[` + strings.TrimSuffix(strings.Repeat(clauses["$regex"]+",", 50), ",") + `]}`
	for want, b := range map[error]*budget{errGone: {left: 1 << 40, done: gone}, errStopped: {left: 1 << 40, closed: gone}} {
		if n := used(heavy, b); b.err != want || n > 20*stepsPerLook {
			t.Errorf("%v after %d steps, want %v", b.err, n, want)
		}
	}
	b := &budget{left: 100}
	if _, err := x.aggregate([]byte(`{}`), []byte(`{"a":{"$avg":{"field":"price"}}}`), 0, b); err != errWork {
		t.Errorf("an aggregation beyond its budget: %v", err)
	}
	if _, err := x.query(&search.Query{Filter: []byte(`{"body":{"$regex":"` + strings.Repeat("a{1000}", 100) + `"}}`), Limit: 1}, 0, nil); err != errProgram {
		t.Errorf("a large expression: %v", err)
	}
}
