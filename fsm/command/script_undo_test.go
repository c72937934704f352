package command_test

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/script"
)

func step(words ...string) *scripttest.Step {
	s := &scripttest.Step{Origin: command.RESP, As: acl.Trusted(acl.DefaultName)}
	for _, w := range words {
		s.Argv = append(s.Argv, []byte(w))
	}
	return s
}

// TestStoppedScriptsAreUndone runs scripts that change everything a script can change,
// and then use up their budget: the state is as before, bit by bit, and goes on.
func TestStoppedScriptsAreUndone(t *testing.T) {
	changes := []string{
		"redis.call('set', 'text', 'changed') redis.call('set', 'new', '1')",
		"redis.call('rpush', 'list', 'c') redis.call('lpop', 'list')",
		"for i = 1, 500 do redis.call('zadd', 'zset', i, 'm' .. i) end",
		"redis.call('hset', 'hash', 'f', 'w', 'g', '1') redis.call('expire', 'hash', 10)",
		"redis.call('flushall')",
		"redis.call('del', 'text', 'list', 'zset') redis.call('rename', 'hash', 'other')",
		"redis.call('xadd', 'stream', '*', 'a', '1') redis.call('json.set', 'doc', '$', '[1]')",
		"redis.call('publish', 'ch', 'x') redis.call('msg.publish', 'https://example.com/', 'body')",
		"redis.call('append', 'text', ('x'):rep(5000)) redis.call('setbit', 'bits', 100000, 1)",
	}
	ends := []string{" while true do end", " local s = 'x' while true do s = s .. s end", " return ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))"}
	for _, change := range changes {
		for _, end := range ends {
			r, now := newReplica(t), int64(scripttest.Start)
			r.words(now, "SET", "text", "before")
			r.words(now, "RPUSH", "list", "a", "b")
			r.words(now, "ZADD", "zset", "1", "a")
			r.words(now, "HSET", "hash", "f", "v")
			r.words(now, "SCRIPT", "LOAD", change+end)
			before := r.digest()
			v := r.run(now, step("EVALSHA", script.Digest(change+end), "0"))
			if !v.IsError() || !strings.Contains(v.Text(), "budget") {
				t.Errorf("%s: %s", change+end, scripttest.Print(v))
			}
			if r.digest() != before {
				t.Errorf("%s: the state has changed", change+end)
			}
			r.words(now, "APPEND", "text", "-after")
			r.restore()
			if got := r.run(now, step("GET", "text")).Text(); got != "before-after" {
				t.Errorf("%s: afterwards %q", change+end, got)
			}
		}
	}
}

// TestScriptsOfOneRequestShareABudget gives rows of endless scripts as a transaction and
// as a pipeline: neither runs as long as its scripts would one by one, and what comes
// after them is not touched.
func TestScriptsOfOneRequestShareABudget(t *testing.T) {
	for _, mode := range []fsm.Mode{fsm.Transaction, fsm.Pipeline} {
		r, now := newReplica(t), int64(scripttest.Start)
		loop := step("EVAL", "redis.call('set', 'k', '1') while true do end", "0")
		rows := [][][]byte{step("SET", "a", "1").Argv}
		for range 10 {
			rows = append(rows, loop.Argv)
		}
		rows = append(rows, step("SET", "b", "1").Argv)
		values := r.apply(now, loop, mode, rows...)
		for i, v := range values {
			if row := i > 0 && i < len(values)-1; v.IsError() != row {
				t.Errorf("mode %d, row %d: %s", mode, i, scripttest.Print(v))
			}
		}
		if got := scripttest.Print(r.run(now, step("EXISTS", "a", "b", "k"))); got != "(integer) 2" {
			t.Errorf("mode %d: %s of a and b", mode, got)
		}
		if v := r.apply(now, loop, fsm.Single, step("EVAL", "return 1", "0").Argv)[0]; v.Int() != 1 {
			t.Errorf("mode %d: a script of the next request answers %s", mode, scripttest.Print(v))
		}
	}
}
