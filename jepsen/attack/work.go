package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// overBudget is in the refusal of a request for its work.
const overBudget = "max-request-work"

// longestRestart bounds the time until a node is ready after kill -9 with the attack in its log. It has room for a
// busy machine; the figure itself is printed.
const longestRestart = 30 * time.Second

func times(n int, key string, args ...string) []string {
	return append(args, slices.Repeat([]string{key}, n)...)
}

// costlyWrites sends requests of few bytes and much work: each is refused with its work, before it is done.
func costlyWrites(ctx context.Context, t *Target) (string, error) {
	counted := func(n int, key string, args ...string) []string {
		return append(append(args, fmt.Sprint(n)), slices.Repeat([]string{key}, n)...)
	}
	slowest := time.Duration(0)
	attempts := [][]string{
		times(200, "b", "BITOP", "OR", "d"), times(500, "big", "BITOP", "AND", "d"), times(500, "set", "SUNIONSTORE", "d"), times(500, "set", "SINTERSTORE", "d"),
		counted(500, "zset", "ZUNIONSTORE", "d"), times(500, "set", "SUNION"), times(500, "b", "MGET"), {"LCS", "b", "b"},
	}
	for _, args := range attempts {
		began := time.Now()
		r := t.own(ctx, args...)
		slowest = max(slowest, time.Since(began))
		if !r.says(http.StatusBadRequest, "ERR") {
			return "", fmt.Errorf("%s with %d words was not refused: %s", args[0], len(args), r)
		}
	}
	return fmt.Sprintf("%d requests refused, the slowest answer after %v", len(attempts), slowest.Round(time.Millisecond)), nil
}

// hogs is the number of clients at each node that send requests of a whole budget.
const hogs = 4

// wholeBudget sends requests that do as much work as one may before they are refused, from several clients at all nodes:
// a script, a script without an end, a transaction.
func wholeBudget(ctx context.Context, t *Target) (string, error) {
	if t.soloTime == 0 {
		alone, err := t.spendBudget(ctx, 0)
		if err != nil {
			return "", err
		}
		t.soloTime = alone
	}
	type result struct {
		slowest time.Duration
		err     error
	}
	results := make(chan result)
	for i := range hogs * len(t.Nodes) {
		go func() {
			slowest, err := t.spendBudget(ctx, i%len(t.Nodes))
			results <- result{slowest, err}
		}()
	}
	slowest, failed := time.Duration(0), error(nil)
	for range hogs * len(t.Nodes) {
		r := <-results
		slowest, failed = max(slowest, r.slowest), errors.Join(failed, r.err)
	}
	return fmt.Sprintf("%d requests ended, the slowest after %v, one alone after %v", 4*hogs*len(t.Nodes), slowest.Round(time.Millisecond), t.soloTime.Round(time.Millisecond)), failed
}

// ended reports whether a request of a whole budget was answered as it has to be: it was refused for its work, or because
// its database has used its share.
func ended(r response, text string) bool {
	return r.says(http.StatusBadRequest, text) || r.says(http.StatusServiceUnavailable, "share")
}

// spendBudget is one client of wholeBudget.
func (t *Target) spendBudget(ctx context.Context, node int) (slowest time.Duration, err error) {
	for _, script := range []string{"for i = 1, 200 do redis.call('BITOP', 'OR', 'd', 'b', 'b') end", "while true do end", "local t = {} for i = 1, 1e9 do t[i] = i end return #t"} {
		began := time.Now()
		r := t.command(ctx, node, Attacker, t.AttackerToken, "EVAL", script, "2", "b", "d")
		slowest = max(slowest, time.Since(began))
		if !ended(r, "ERR") {
			return slowest, fmt.Errorf("%s was not ended: %s", script, r)
		}
	}
	began := time.Now()
	rows := slices.Repeat([][]string{{"COPY", "big", "d", "REPLACE"}, {"BITOP", "NOT", "d", "big"}}, 100)
	r := t.ask(ctx, node, http.MethodPost, "/db/"+Attacker+"/multi-exec", t.AttackerToken, words(rows))
	slowest = max(slowest, time.Since(began))
	if !ended(r, overBudget) && !r.says(http.StatusOK, overBudget) {
		return slowest, fmt.Errorf("a transaction of %d rows was not refused: %s", len(rows), r)
	}
	return slowest, nil
}

// costlyReads sends reads that take long, from several clients at all nodes. Each is answered: with its result, as one that
// exceeds a budget, or because its database has long reads enough.
func costlyReads(ctx context.Context, t *Target) (string, error) {
	reads := [][]string{
		{"EVAL_RO", "while true do end", "0"},
		{"EVAL_RO", "local n = 0 for i = 1, 50 do n = n + redis.call('BITCOUNT', KEYS[1]) end return n", "1", "b"},
		{"SORT_RO", "set", "ALPHA", "LIMIT", "0", "1"},
		times(10, "set", "SINTERCARD", "10"),
		{"ZCOUNT", "zset", "-inf", "+inf"},
		{"LCS", "b", "b", "LEN"},
		{"KEYS", "*x*"},
	}
	results := make(chan error)
	for i := range hogs * len(t.Nodes) {
		go func() {
			for j := range reads {
				args := reads[(i+j)%len(reads)]
				if r := t.command(ctx, i%len(t.Nodes), Attacker, t.AttackerToken, args...); r.status != http.StatusOK && !ended(r, "ERR") {
					results <- fmt.Errorf("%s: %s", args[0], r)
					return
				}
			}
			results <- nil
		}()
	}
	var failed error
	for range hogs * len(t.Nodes) {
		failed = errors.Join(failed, <-results)
	}
	return fmt.Sprintf("%d reads answered", hogs*len(t.Nodes)*len(reads)), failed
}

// budgets returns the wait that others must accept, since a request can't be interrupted: the time of an entry with a request
// of a whole budget.
func budgets(t *Target) time.Duration { return t.soloTime }

// restarts has a node start again with what the attack has left in its log.
func restarts(node int) func(context.Context, *Target) (string, error) {
	return func(ctx context.Context, t *Target) (string, error) {
		took, err := t.restart(ctx, node)
		if err == nil && took > longestRestart {
			err = fmt.Errorf("n%d was ready %v after its start", node+1, took)
		}
		return fmt.Sprintf("n%d, killed afterwards, was ready after %v", node+1, took.Round(10*time.Millisecond)), err
	}
}

func contains(b []byte, text string) bool { return bytes.Contains(b, []byte(text)) }
