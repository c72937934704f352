package command

import (
	"strings"
	"testing"
)

// patternCalls are calls of every row that takes a pattern or an expression, as P, and what there is to match.
var patternCalls = map[string][]string{
	"keys": {"KEYS P"}, "scan": {"SCAN 0 MATCH P COUNT 1000"}, "hscan": {"HSCAN h 0 MATCH P COUNT 1000"},
	"sscan": {"SSCAN s 0 MATCH P COUNT 1000"}, "zscan": {"ZSCAN z 0 MATCH P COUNT 1000"},
	"argrep":   {"ARGREP a - + GLOB P", "ARGREP a - + RE P", "ARGREP a - + NOCASE RE P"},
	"json.get": {`JSON.GET j $[?(@=~"P")]`}, "config get": {"CONFIG GET P"}, "command list": {"COMMAND LIST FILTERBY PATTERN P"},
	// There is nothing to match in a test of single commands, or the row belongs to a connection.
	"function list": nil, "search.listindexes": nil, "pubsub channels": nil, "pubsub shardchannels": nil, "pubsub numpat": nil, "psubscribe": nil, "punsubscribe": nil,
}

// TestPatternsArePriced: of every command that takes a pattern, what matching looks at counts as work, in proportion to the
// pattern and to what it is matched with, and the command is refused when that is more than the budget.
func TestPatternsArePriced(t *testing.T) {
	tx := testTx(nil, RESP)
	tx.User = tx.Users.User("default")
	for _, c := range tx.Table.Rows() {
		if _, known := patternCalls[c.Name]; !known && (strings.Contains(c.Syntax, "pattern") || strings.Contains(c.Syntax, "expression")) && c.Name != "sort" && c.Name != "sort_ro" {
			t.Errorf("%s: name a call of it in patternCalls", c.Syntax)
		}
	}
	for i := range 300 {
		text := strings.Repeat("a", 30) + string(rune('A'+i%26)) + strings.Repeat("b", i)
		for _, line := range []string{"SET " + text + " 1", "HSET h " + text + " 1", "SADD s " + text, "ZADD z 1 " + text, "ARINSERT a " + text} {
			if v := tx.do(line); v.IsError() {
				t.Fatalf("%s: %s", line, v.Text())
			}
		}
	}
	elements := strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("a", 60)+`",`, 300), ",")
	if v := tx.do("JSON.SET j $ [" + elements + "]"); v.IsError() {
		t.Fatal(v.Text())
	}
	for name, calls := range patternCalls {
		for _, call := range calls {
			short, long := "*a*b", "*a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a*b"
			if strings.Contains(call, "RE P") || strings.Contains(call, `=~`) {
				short, long = "(.*a){2}c", "(.*a){40}c"
			}
			spent := func(pattern string, limit int64) (int64, string) {
				tx.work, tx.Limits = work{}, Limits{MaxWork: limit}
				argv := words(call)
				at := len(argv) - 1
				for ; !strings.Contains(call, `"P"`) && string(argv[at]) != "P"; at-- {
				}
				argv[at] = []byte(strings.ReplaceAll(string(argv[at]), "P", pattern))
				v := tx.Exec(argv)
				return tx.work.used, v.Text()
			}
			few, text := spent(short, 0)
			many, _ := spent(long, 0)
			if many < 2*few || many < 300 {
				t.Errorf("%s counts as %d and %d steps: %s", call, few, many, text)
			}
			if _, text := spent(long, many-1); !strings.Contains(text, "max request work exceeded by '"+outward(name)) && !strings.Contains(text, "too many values") {
				t.Errorf("%s with less than it needs: %.80s", call, text)
			}
		}
	}
}
