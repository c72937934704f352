package attack

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// overBudget is in the refusal of a request for its work.
const overBudget = "max-request-work"

// longestRestart is for how long a node may not be ready after kill -9 with the attack in its log. It has room for a
// busy machine; the figure itself is printed.
const longestRestart = 30 * time.Second

func times(n int, key string, args ...string) []string {
	return append(args, slices.Repeat([]string{key}, n)...)
}

// costlyWrites sends requests of few bytes and much work: each is refused with its work, before it is done.
func costlyWrites(ctx context.Context, t *Target) (string, error) {
	if err := t.fill(ctx); err != nil {
		return "", err
	}
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

// wholeBudget sends requests that do as much work as one may before they are refused: a script, a script without an end,
// a transaction.
func wholeBudget(ctx context.Context, t *Target) (string, error) {
	if err := t.fill(ctx); err != nil {
		return "", err
	}
	slowest := time.Duration(0)
	for _, script := range []string{"for i = 1, 200 do redis.call('BITOP', 'OR', 'd', 'b', 'b') end", "while true do end", "local t = {} for i = 1, 1e9 do t[i] = i end return #t"} {
		began := time.Now()
		r := t.own(ctx, "EVAL", script, "2", "b", "d")
		slowest = max(slowest, time.Since(began))
		if !r.says(http.StatusBadRequest, "ERR") {
			return "", fmt.Errorf("%s was not ended: %s", script, r)
		}
	}
	began := time.Now()
	rows := slices.Repeat([][]string{{"COPY", "big", "d", "REPLACE"}, {"BITOP", "NOT", "d", "big"}}, 100)
	r := t.ask(ctx, 0, http.MethodPost, "/db/"+Attacker+"/multi-exec", t.AttackerToken, words(rows))
	slowest = max(slowest, time.Since(began))
	if r.err != nil || !slices.Contains([]int{http.StatusOK, http.StatusBadRequest}, r.status) || !contains(r.body, overBudget) {
		return "", fmt.Errorf("a transaction of %d rows was not refused: %s", len(rows), r)
	}
	return fmt.Sprintf("4 requests ended, the slowest after %v", slowest.Round(time.Millisecond)), nil
}

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
