package stats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/observe/stats"
)

func argv(line string) (words [][]byte) {
	for _, w := range strings.Fields(line) {
		words = append(words, []byte(w))
	}
	return words
}

// TestFigures reports calls of two databases and reads what was counted of one.
func TestFigures(t *testing.T) {
	table := command.NewTable()
	n := stats.New(table)
	n.SetClients(func(db string) stats.Clients { return stats.Clients{Connected: int64(len(db))} })
	d := n.In("abc")
	d.Batch(table, [][][]byte{argv("GET k"), argv("GET none")}, []reply.Value{reply.Bulk("v"), reply.Nil()}, 2*time.Millisecond, stats.Caller{})
	d.Batch(table, [][][]byte{argv("LPUSH k v")}, []reply.Value{reply.Error("WRONGTYPE x")}, time.Millisecond, stats.Caller{})
	d.Batch(table, [][][]byte{argv("SET k v")}, []reply.Value{reply.Error("NOPERM x")}, time.Millisecond, stats.Caller{})
	d.Batch(table, [][][]byte{argv("NOSUCH")}, []reply.Value{reply.Error("ERR unknown command")}, time.Millisecond, stats.Caller{})
	d.Batch(table, [][][]byte{argv("KEYS *")}, []reply.Value{reply.Array()}, 300*time.Millisecond, stats.Caller{Addr: "a:1", Name: "me"})
	d.Batch(table, [][][]byte{argv("ACL SETUSER u >secret")}, []reply.Value{reply.OK()}, time.Second, stats.Caller{})
	n.In("other").Batch(table, [][][]byte{argv("GET k")}, []reply.Value{reply.Nil()}, time.Second, stats.Caller{})

	if s := d.Totals(); s.Processed != 5 || s.Hits != 1 || s.Misses != 1 || s.Connected != 3 {
		t.Errorf("%+v", s)
	}
	calls := map[string]command.CallFigures{}
	for _, c := range d.Calls() {
		calls[c.Name] = c
	}
	if c := calls["get"]; c.Calls != 2 || c.Nanos != 2e6 || c.Failed != 0 || c.Percentile(99) < 1e6 || c.Percentile(99) > 2e6 {
		t.Errorf("GET: %+v", c)
	}
	if c := calls["lpush"]; c.Calls != 1 || c.Failed != 1 {
		t.Errorf("LPUSH: %+v", c)
	}
	if c := calls["set"]; c.Calls != 0 || c.Rejected != 1 {
		t.Errorf("SET: %+v", c)
	}
	var errors []string
	for _, e := range d.Errors() {
		errors = append(errors, e.Class)
	}
	if got := strings.Join(errors, " "); got != "ERR NOPERM WRONGTYPE" {
		t.Errorf("errors: %s", got)
	}
	slow := d.Slow(10)
	if len(slow) != 1 || strings.Join(slow[0].Argv, " ") != "KEYS *" || slow[0].Micros != 300_000 || slow[0].Addr != "a:1" || slow[0].Name != "me" {
		t.Errorf("slow: %+v", slow)
	}
	if s := d.Spikes(); len(s) != 1 || s[0].Event != "command" || s[0].Most != 300 || len(s[0].Samples) != 1 {
		t.Errorf("spikes: %+v", s)
	}
	d.Reset()
	d.ResetSlow()
	if d.ResetSpikes([]string{"none"}) != 0 || d.ResetSpikes(nil) != 1 || len(d.Calls())+len(d.Errors())+len(d.Slow(-1))+len(d.Spikes()) != 0 || n.In("other").Totals().Processed != 1 {
		t.Error("something is left, or too much has gone")
	}
}

// TestSlowLogIsBounded keeps the newest calls, and of long ones their beginning.
func TestSlowLogIsBounded(t *testing.T) {
	table := command.NewTable()
	d := stats.New(table).In("db")
	long := argv("DEL" + strings.Repeat(" k", 100))
	long[1] = []byte(strings.Repeat("x", 500))
	for range 200 {
		d.Batch(table, [][][]byte{long}, []reply.Value{reply.Int(0)}, time.Second, stats.Caller{})
	}
	all := d.Slow(-1)
	if len(all) != 128 || all[0].ID != 199 || all[127].ID != 72 {
		t.Fatalf("%d calls, from %d", len(all), all[0].ID)
	}
	if w := all[0].Argv; len(w) != 32 || w[1] != strings.Repeat("x", 128)+"... (372 more bytes)" || w[31] != "... (70 more arguments)" {
		t.Errorf("%d words: %q", len(w), w)
	}
}
