package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// workbench is a machine that costly commands are tried on.
type workbench struct {
	*replica
	origin command.Origin
}

func newWorkbench(t testing.TB) *workbench { return &workbench{newReplica(t), command.RESP} }

// limit sets the budget of work.
func (w *workbench) limit(work, script int64) {
	w.t.Helper()
	var s fsm.Settings
	s.SetWork(work, script)
	w.propose(fsm.Request{Code: fsm.Configure.Code, Body: fsm.Configure.Body(s)})
}

func (w *workbench) propose(r fsm.Request) {
	w.t.Helper()
	w.index++
	entry := fsm.Entry{Stamp: scripttest.Start, Term: 1, Requests: []fsm.Request{r}}
	if outcomes, err := w.m.Apply(w.index, 1, entry.Encode()); err != nil || outcomes[0].Err != nil {
		w.t.Fatalf("%v, %+v", err, outcomes)
	}
}

func (w *workbench) rows(mode fsm.Mode, rows ...[][]byte) []reply.Value {
	w.t.Helper()
	return w.apply(scripttest.Start, &scripttest.Step{As: acl.Trusted(acl.DefaultName), Origin: w.origin}, mode, rows...)
}

func (w *workbench) write(words ...string) reply.Value {
	w.t.Helper()
	return w.rows(fsm.Single, argvOf(words...))[0]
}

func (w *workbench) read(words ...string) reply.Value {
	return w.view(scripttest.Start, &scripttest.Step{As: acl.Trusted(acl.DefaultName), Origin: w.origin, Argv: argvOf(words...)})
}

func argvOf(words ...string) (argv [][]byte) {
	for _, word := range words {
		argv = append(argv, []byte(word))
	}
	return argv
}

// repeated is a command with a word that is given so many times.
func repeated(head, word string, times int) []string {
	words := strings.Fields(head)
	for range times {
		words = append(words, word)
	}
	return words
}

const overWork = "ERR max request work exceeded by '"

// TestCostlyWriteIsRefused: a small request that would keep every node busy for a minute is
// refused before anything is done, with the command, its work and the setting, by the default
// budget; a read after it is answered, and the state is the one before.
func TestCostlyWriteIsRefused(t *testing.T) {
	w := newWorkbench(t)
	w.write("SET", "small", "v")
	w.write("SETRANGE", "b", fmt.Sprint(20<<20-1), "x")
	before := w.digest()
	got := w.write(repeated("BITOP OR d", "b", 200)...)
	if want := overWork + "bitop'. Limit: 10000000 steps, Actual: "; !strings.HasPrefix(got.Text(), want) || !strings.HasSuffix(got.Text(), "Setting: max-request-work") {
		t.Fatalf("%.200q, want %q", got.Text(), want)
	}
	if w.digest() != before {
		t.Error("a refused command has changed the state")
	}
	if got := w.read("GET", "small"); got.Text() != "v" {
		t.Errorf("GET beside it: %q", got.Text())
	}
	if got := w.write(repeated("BITOP OR d", "b", 2)...); got.Int() != 20<<20 {
		t.Errorf("an honest BITOP: %s", scripttest.Print(got))
	}
}

// amplifiers are small requests whose work grows with how often they name a key.
var amplifiers = []string{
	"BITOP OR d|s", "SUNIONSTORE d|set", "SUNION|set", "ZUNIONSTORE d 300|zset", "SDIFFSTORE d|set", "SINTERSTORE d|set",
	"PFMERGE d|hll", "PFCOUNT|hll", "MGET|s", "HMGET hash|f", "JSON.MGET|doc", "XREAD STREAMS|stream", "SORT list STORE d|",
	"LCS a a|", "SRANDMEMBER set -1000000|", "HRANDFIELD hash -1000000|", "ZRANDMEMBER zset -1000000|", "KEYS *|",
}

// TestAmplifiersAreRefused: each of these passes with a large budget and is refused by a
// small one, and changes nothing then.
func TestAmplifiersAreRefused(t *testing.T) {
	w := newWorkbench(t)
	w.limit(0, 0)
	long := strings.Repeat("x", 4096)
	w.write("SET", "s", long)
	w.write("SET", "a", long)
	w.write("HSET", "hash", "f", long, "g", long)
	w.write("JSON.SET", "doc", "$", `["`+long+`"]`)
	w.write("PFADD", "hll", "a", "b")
	w.write("PFDEBUG", "TODENSE", "hll")
	for i := range 100 {
		w.write("SADD", "set", fmt.Sprint(i))
		w.write("ZADD", "zset", fmt.Sprint(i), fmt.Sprint(i))
		w.write("RPUSH", "list", fmt.Sprint(i))
		w.write("XADD", "stream", "*", "f", fmt.Sprint(i))
		w.write("SET", fmt.Sprint("key", i), "v")
	}
	for _, amplifier := range amplifiers {
		head, word, _ := strings.Cut(amplifier, "|")
		times := 300
		if word == "" {
			times = 0
		}
		words := repeated(head, word, times)
		switch words[0] {
		case "XREAD":
			words = append(words, repeated("", "0", times)...)
		case "JSON.MGET":
			words = append(words, "$")
		}
		run := w.write
		if words[0] == "KEYS" || words[0] == "LCS" || words[0] == "XREAD" {
			run = w.read
		}
		if strings.Contains(words[0], "RANDMEMBER") || words[0] == "HRANDFIELD" {
			run = w.read
			words[2] = "-100000"
		}
		w.limit(0, 0)
		if got := run(words...); got.IsError() {
			t.Errorf("%s without a limit: %.200s", amplifier, got.Text())
		}
		w.write("DEL", "d")
		w.limit(int64(len(words))+90, 0)
		before := w.digest()
		if got := run(words...); !strings.HasPrefix(got.Text(), overWork+strings.ToLower(words[0])) {
			t.Errorf("%s: %.200s", amplifier, scripttest.Print(got))
		}
		if w.digest() != before {
			t.Errorf("%s was refused and has changed the state", amplifier)
		}
	}
}

// TestWorkIsShared: the rows of a transaction, of an HTTP pipeline and the commands of a script
// have one budget together, those of a RESP pipeline one each and four in all.
func TestWorkIsShared(t *testing.T) {
	w := newWorkbench(t)
	w.write("SET", "s", strings.Repeat("x", 64*100))
	w.limit(1000, 0)
	union := argvOf("BITOP", "OR", "d", "s", "s", "s") // about 400 steps
	rows := func(n int) (all [][][]byte) {
		for range n {
			all = append(all, union)
		}
		return all
	}
	refused := func(values []reply.Value) (n int) {
		for _, v := range values {
			if strings.HasPrefix(v.Text(), overWork) {
				n++
			}
		}
		return n
	}
	if got := w.rows(fsm.Transaction, rows(2)...); len(got) != 2 || refused(got) != 0 {
		t.Errorf("a transaction within the budget: %v", got)
	}
	before := w.digest()
	if got := w.rows(fsm.Transaction, rows(3)...); len(got) != 1 || refused(got) != 1 || w.digest() != before {
		t.Errorf("a transaction beyond the budget: %v", got)
	}
	if got := w.rows(fsm.Pipeline, rows(12)...); refused(got) != 3 {
		t.Errorf("a RESP pipeline of 12 rows: %d refused", refused(got))
	}
	w.origin = command.OriginHTTP
	if got := w.rows(fsm.Pipeline, rows(3)...); refused(got) != 1 {
		t.Errorf("an HTTP pipeline of 3 rows: %d refused", refused(got))
	}
	w.origin = command.RESP
	got := w.write("EVAL", "local n = 0; for i = 1, 5 do local r = redis.pcall('BITOP', 'OR', 'd', 's', 's', 's'); if type(r) == 'table' then n = n + 1 end end; return n", "0")
	if got.Int() != 3 {
		t.Errorf("a script: %s", scripttest.Print(got))
	}
	replies := make([][][]byte, 30)
	for i := range replies {
		replies[i] = argvOf("GET", "s")
	}
	w.origin = command.OriginHTTP
	if got := w.rows(fsm.Pipeline, replies...); refused(got) == 0 {
		t.Error("replies are not counted")
	}
}

// TestWorkCountsFromTheFirstEntry: a state machine whose level nothing has raised judges work too.
func TestWorkCountsFromTheFirstEntry(t *testing.T) {
	w := &workbench{&replica{t: t, m: fsm.NewMachine()}, command.RESP}
	w.write("SET", "s", strings.Repeat("x", 64*100))
	w.limit(10, 10)
	if got := w.write(repeated("BITOP OR d", "s", 100)...); !strings.HasPrefix(got.Text(), overWork) {
		t.Errorf("got %s, want a refusal that begins with %q", scripttest.Print(got), overWork)
	}
}

// TestScriptBudgetIsASetting: a loop over SCAN of a million keys passes by default; a budget
// that is too small is named with its setting, and nothing of the script is kept.
func TestScriptBudgetIsASetting(t *testing.T) {
	w := newWorkbench(t)
	const part = 4 // a quarter of a million keys with a quarter of the default
	const keys, group = 1_000_000 / part, 10_000
	w.limit(0, command.DefaultMaxScript/part)
	for i := 0; i < keys; i += group {
		words := []string{"MSET"}
		for k := i; k < i+group; k++ {
			words = append(words, fmt.Sprint("ratelimit:", k), "1")
		}
		w.write(words...)
	}
	const loop = `local cursor, n = '0', 0
		repeat
			local r = redis.call('SCAN', cursor, 'COUNT', 1000)
			cursor = r[1]
			for _, key in ipairs(r[2]) do n = n + 1 end
		until cursor == '0'
		redis.call('SET', 'n', n)
		return n`
	if got := w.write("EVAL", loop, "0"); got.Int() != keys {
		t.Fatalf("%.200s", scripttest.Print(got))
	}
	w.write("DEL", "n")
	w.limit(0, 2_000_000)
	got := w.write("EVAL", loop, "0")
	if want := "ERR script used up its budget of instructions. Limit: 2000000 steps. Setting: max-script-steps; nothing that it did was kept"; got.Text() != want {
		t.Errorf("%.200s", scripttest.Print(got))
	}
	if got := w.read("EXISTS", "n"); got.Int() != 0 {
		t.Error("what the script did was kept")
	}
}
