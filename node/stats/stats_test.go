package stats_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/stats"
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
	if len(slow) != 2 || strings.Join(slow[0].Argv, " ") != "ACL SETUSER (redacted) (redacted)" || strings.Join(slow[1].Argv, " ") != "KEYS *" || slow[1].Micros != 300_000 || slow[1].Addr != "a:1" || slow[1].Name != "me" {
		t.Errorf("slow: %+v", slow)
	}
	if s := d.Spikes(); len(s) != 1 || s[0].Event != "command" || s[0].Most != 1000 {
		t.Errorf("spikes: %+v", s)
	}
	d.Reset(0, 0)
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

// TestSlowLogSettings keeps what the settings of the database say, from the CONFIG SET on that
// changes them.
func TestSlowLogSettings(t *testing.T) {
	table := command.NewTable()
	n := stats.New(table)
	limits := command.Thresholds{SlowMicros: -1, SlowLen: 3}
	n.SetThresholds(func(db string) command.Thresholds { return limits })
	d := n.In("db")
	run := func(line string, took time.Duration) {
		d.Batch(table, [][][]byte{argv(line)}, []reply.Value{reply.OK()}, took, stats.Caller{})
	}
	set := func(l command.Thresholds) {
		limits = l
		run("CONFIG SET slowlog-max-len 3", 0)
		d.ResetSlow()
	}
	for _, c := range []struct {
		limits     command.Thresholds
		slow, late int
	}{
		{command.Thresholds{SlowMicros: -1, SlowLen: 3}, 0, 0},
		{command.Thresholds{SlowMicros: 0, SlowLen: 3, LatencyMillis: 50}, 3, 1},
		{command.Thresholds{SlowMicros: 1000, SlowLen: 3, LatencyMillis: 200}, 2, 0},
		{command.Thresholds{SlowMicros: 0, SlowLen: 0}, 0, 0},
	} {
		set(c.limits)
		d.ResetSpikes(nil)
		for _, took := range []time.Duration{0, 999 * time.Microsecond, time.Millisecond, 100 * time.Millisecond} {
			run("GET k", took)
		}
		if slow, late := len(d.Slow(-1)), len(d.Spikes()); slow != c.slow || late != c.late {
			t.Errorf("%+v: %d slow calls and %d events, want %d and %d", c.limits, slow, late, c.slow, c.late)
		}
		if c.limits.SlowMicros >= 0 != d.Keeps(time.Hour) {
			t.Errorf("%+v: keeps an hour: %t", c.limits, d.Keeps(time.Hour))
		}
	}
}

// TestSlowLogHidesSecrets shows the words of calls without passwords.
func TestSlowLogHidesSecrets(t *testing.T) {
	table := command.NewTable()
	n := stats.New(table)
	n.SetThresholds(func(string) command.Thresholds { return command.Thresholds{SlowLen: 10} })
	d := n.In("db")
	for _, c := range [][2]string{
		{"AUTH u secret", "AUTH (redacted) (redacted)"},
		{"HELLO 3 AUTH u secret SETNAME me", "HELLO 3 AUTH (redacted) (redacted) SETNAME me"},
		{"HELLO 3 secret", "HELLO 3 (redacted)"},
		{"ACL SETUSER u >secret", "ACL SETUSER (redacted) (redacted)"},
		{"ACL WHOAMI", "ACL WHOAMI"},
		{"CONFIG SET timeout 0 requirepass secret", "CONFIG SET timeout 0 requirepass (redacted)"},
		{"CONFIG SET timeout 0", "CONFIG SET timeout 0"},
		{"EXEC", ""},
	} {
		d.ResetSlow()
		d.Batch(table, [][][]byte{argv(c[0])}, []reply.Value{reply.OK()}, time.Second, stats.Caller{})
		got := ""
		for _, call := range d.Slow(-1) {
			got += strings.Join(call.Argv, " ")
		}
		if got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// TestRefused counts calls that could not be made, of unknown commands too.
func TestRefused(t *testing.T) {
	table := command.NewTable()
	d := stats.New(table).In("db")
	d.Refused(nil, "ERR unknown command 'x'")
	d.Refused(table.Row("set"), "ERR wrong number of arguments for 'set' command")
	calls, errors := d.Calls(), d.Errors()
	if len(calls) != 1 || calls[0].Name != "set" || calls[0].Rejected != 1 || calls[0].Calls != 0 || len(errors) != 1 || errors[0].Count != 2 {
		t.Errorf("%+v, %+v", calls, errors)
	}
}

// TestCollector shows calls and errors by database and protocol, which no client resets, and nothing of databases that are gone.
func TestCollector(t *testing.T) {
	table := command.NewTable()
	n := stats.New(table)
	get, resp := [][][]byte{argv("GET k")}, stats.Caller{Addr: "10.0.0.1:5"}
	n.In("default").Batch(table, [][][]byte{argv("GET k"), argv("LPUSH k v")}, []reply.Value{reply.Nil(), reply.Error("WRONGTYPE x")}, 2*time.Millisecond, stats.Caller{})
	n.In("default").Batch(table, get, []reply.Value{reply.Nil()}, 3*time.Second, resp)
	n.In("default").Batch(table, get, []reply.Value{reply.Nil()}, time.Hour, resp)
	n.In("default").Refused(nil, "ERR unknown command 'x'")
	n.In("shop").Batch(table, get, []reply.Value{reply.Nil()}, time.Microsecond, stats.Caller{})
	n.In("gone").Batch(table, get, []reply.Value{reply.Nil()}, time.Microsecond, stats.Caller{})
	n.In("default").Reset(0, 0)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(n.Collector(func(names []string) []string {
		return slices.DeleteFunc(names, func(name string) bool { return name == "gone" })
	}))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, f := range families {
		for _, m := range f.Metric {
			key := f.GetName() + " " + m.Label[0].GetValue() + " " + m.Label[1].GetValue()
			if h := m.Histogram; h != nil {
				within := func(most float64) (n uint64) {
					for _, b := range h.Bucket {
						if b.GetUpperBound() <= most {
							n = b.GetCumulativeCount()
						}
					}
					return n
				}
				got[key] = fmt.Sprintf("%d calls, %.3f s, within 0.1 ms %d, 2 ms %d, 5 s %d", h.GetSampleCount(), h.GetSampleSum(), within(1e-4), within(2e-3), within(5))
			} else {
				got[key] = fmt.Sprint(m.Counter.GetValue())
			}
		}
	}
	want := map[string]string{
		"trireme_command_duration_seconds default http": "2 calls, 0.002 s, within 0.1 ms 0, 2 ms 2, 5 s 2",
		"trireme_command_duration_seconds default resp": "2 calls, 3603.000 s, within 0.1 ms 0, 2 ms 0, 5 s 1",
		"trireme_command_duration_seconds shop http":    "1 calls, 0.000 s, within 0.1 ms 1, 2 ms 1, 5 s 1",
		"trireme_command_errors_total default http":     "1",
		"trireme_command_errors_total default resp":     "1",
		"trireme_command_errors_total shop http":        "0",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSeriesAreBounded calls more databases than have metrics of their own: the others are added up, and their sum never falls, also
// when one is deleted.
func TestSeriesAreBounded(t *testing.T) {
	table := command.NewTable()
	n := stats.New(table)
	deleted := map[string]bool{}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(n.Collector(func(names []string) []string {
		return slices.DeleteFunc(names, func(name string) bool { return deleted[name] })
	}))
	call := func(i int) {
		n.In(fmt.Sprintf("d%03d", i)).Batch(table, [][][]byte{argv("GET k")}, []reply.Value{reply.Nil()}, time.Microsecond, stats.Caller{})
	}
	gather := func() (series int, others uint64) {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.Metric {
				if h := m.Histogram; h != nil {
					series++
					if m.Label[0].GetValue() == stats.Others {
						others = h.GetSampleCount()
					}
				}
			}
		}
		return series, others
	}
	for i := range 300 {
		call(i)
	}
	if series, others := gather(); series != 201 || others != 100 {
		t.Errorf("%d series, %d calls of the others, want 201 and 100", series, others)
	}
	deleted["d000"], deleted["d250"] = true, true
	if series, others := gather(); series != 200 || others != 100 {
		t.Errorf("of databases that are deleted: %d series, %d calls of the others, want 200 and 100", series, others)
	}
	for i := 299; i < 302; i++ {
		call(i)
	}
	if series, others := gather(); series != 201 || others != 102 {
		t.Errorf("with new ones: %d series, %d calls of the others, want 201 and 102", series, others)
	}
}
