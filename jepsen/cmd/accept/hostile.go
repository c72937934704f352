package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	// fewestPrograms is the minimum number of hostile programs.
	fewestPrograms = 40
	hostileClients = 6
	// longestStall bounds the time without an acknowledged write while a program runs. It
	// has room for a busy machine; the figure itself is printed.
	longestStall = 2 * time.Second
)

// stateOfAll is a program that tells all keys and values in a few bytes.
const stateOfAll = `local names = redis.call('KEYS', 'k*') for _, n in ipairs({'l', 'biglist', 'bigset', 'dst'}) do names[#names + 1] = n end
table.sort(names) local sum = '' for _, n in ipairs(names) do sum = redis.sha1hex(sum .. n .. tostring(redis.call('DUMP', n))) end return sum .. ' ' .. #names`

// hostileScripts is hostile-scripts: programs that try to run for ever, to take all memory or to leave
// the sandbox, first on two replicas and one that is restored, then each through a node of
// a cluster that others write to. All nodes hold the same afterwards, and live.
func hostileScripts(ctx context.Context, s *session) error {
	if err := s.tests(ctx, "./fsm/command", "TestHostileScripts"); err != nil {
		return err
	}
	programs, err := hostilePrograms(s.root)
	if err != nil {
		return err
	}
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	if err := fillForHostile(ctx, c); err != nil {
		return err
	}
	l := startLoad(c, []int{0, 1, 2}, hostileClients, "other")
	slowest, wrong := time.Duration(0), error(nil)
	for i, program := range programs {
		began := time.Now()
		r := c.Do(ctx, i%c.Size(), "EVAL", program, "1", "k1", "a1", "42")
		slowest = max(slowest, time.Since(began))
		if r.Outcome != history.OK && r.Status != 400 {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %s: %s", program, r.Outcome, r.Error))
		}
		wrong = errors.Join(wrong, sameOnAll(ctx, c, program))
	}
	l.end()
	l.verify(ctx, c.Size())
	s.printf("%d programs, the slowest answered after %v; longest time without a write of others %v, %d of their requests failed",
		len(programs), slowest.Round(time.Millisecond), l.pause().Round(time.Millisecond), l.failed.Load())
	if failed := l.failed.Load(); failed > 0 {
		wrong = errors.Join(wrong, fmt.Errorf("others: %d requests failed: %v", failed, l.problems))
	}
	if l.pause() > longestStall {
		wrong = errors.Join(wrong, fmt.Errorf("nothing was written for %v", l.pause()))
	}
	return wrong
}

// hostilePrograms returns the programs that the tests use too.
func hostilePrograms(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "fsm", "command", "testdata", "hostile.txt"))
	if err != nil {
		return nil, fmt.Errorf("hostile programs: %w", err)
	}
	programs := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n---\n")
	if len(programs) < fewestPrograms {
		return nil, fmt.Errorf("%d hostile programs, want %d", len(programs), fewestPrograms)
	}
	return programs, nil
}

// fillForHostile makes the large values that the programs look for.
func fillForHostile(ctx context.Context, c *testcluster.Cluster) error {
	for i := range 20 {
		list, set := []string{"RPUSH", "biglist"}, []string{"SADD", "bigset"}
		for j := range 1000 {
			list, set = append(list, strings.Repeat("e", j%50)), append(set, fmt.Sprintf("m%d:%d", i, j))
		}
		for _, argv := range [][]string{list, set} {
			if r := c.Do(ctx, i%c.Size(), argv...); r.Outcome != history.OK {
				return fmt.Errorf("%s: %s: %s", argv[0], r.Outcome, r.Error)
			}
		}
	}
	return nil
}

// sameOnAll compares what the nodes hold.
func sameOnAll(ctx context.Context, c *testcluster.Cluster, program string) error {
	first := ""
	for i := range c.Size() {
		var state string
		r := c.Do(ctx, i, "EVAL_RO", stateOfAll, "0")
		if r.Outcome != history.OK {
			return fmt.Errorf("after %s: n%d: %s: %s", program, i+1, r.Outcome, r.Error)
		}
		if err := json.Unmarshal(r.Result, &state); err != nil || state == "" {
			return fmt.Errorf("after %s: n%d answers %s: %w", program, i+1, r.Result, err)
		}
		if first == "" {
			first = state
		}
		if state != first {
			return fmt.Errorf("after %s: n1 holds %s, n%d %s", program, first, i+1, state)
		}
	}
	return nil
}
