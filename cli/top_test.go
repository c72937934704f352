package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/fsm/command"
)

// TestLoadIsBetweenSamples: rates are per second, and a node that was restarted, or is seen for the first time, has none.
func TestLoadIsBetweenSamples(t *testing.T) {
	begin := time.Unix(1000, 0)
	first := sample{at: begin, commands: 100, attempts: 10, failed: 1, applied: 50, bounds: []float64{0.001, 0.01, math.Inf(1)}, counts: []float64{90, 100, 100}}
	second := sample{at: begin.Add(2 * time.Second), commands: 300, attempts: 14, failed: 2, applied: 90, waiting: 3, memory: 1 << 20, overdue: 7, bounds: first.bounds, counts: []float64{140, 199, 200}}
	for name, c := range map[string]struct {
		before sample
		want   load
	}{
		"after another": {first, load{Commands: 100, Attempts: 2, Failed: 0.5, P50: 1, P99: 10, Lag: 10, Pending: 3, Overdue: 7, Memory: 1 << 20}},
		"the first":     {sample{}, load{Lag: 10, Pending: 3, Overdue: 7, Memory: 1 << 20}},
		"restarted":     {sample{at: begin, commands: 400}, load{Lag: 10, Pending: 3, Overdue: 7, Memory: 1 << 20}},
		"the same time": {second, load{Lag: 10, Pending: 3, Overdue: 7, Memory: 1 << 20}},
	} {
		if got := second.load(c.before, 100); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestQuantile is the upper bound of a bucket, and of the last one the bound below it.
func TestQuantile(t *testing.T) {
	n := sample{bounds: []float64{0.001, 0.01, math.Inf(1)}, counts: []float64{10, 20, 30}}
	for q, want := range map[float64]float64{0: 1, 0.3: 1, 0.34: 10, 0.6: 10, 0.7: 10, 1: 10} {
		if got := n.quantile(sample{}, q); got != want {
			t.Errorf("quantile %v is %v ms, want %v", q, got, want)
		}
	}
	if got := n.quantile(n, 0.5); got != 0 {
		t.Errorf("without requests %v ms", got)
	}
	if got := (&sample{}).quantile(sample{}, 0.5); got != 0 {
		t.Errorf("without a histogram %v ms", got)
	}
}

// TestFollowerPrintsEachEventOnce: events of the last moment come again with each question, and may be equal.
func TestFollowerPrintsEachEventOnce(t *testing.T) {
	var out bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetOut(&out)
	f := follower{s: &session{options: &options{output: output{format: asJSON}}, cmd: cmd}, at: -1, printed: map[string]int{}}
	for i, c := range []struct{ events, want string }{
		{``, ``},
		{`{"time":1,"a":1} {"time":1,"a":2}`, `{"time":1,"a":1} {"time":1,"a":2}`},
		{`{"time":1,"a":1} {"time":1,"a":2}`, ``},
		{`{"time":1,"a":1} {"time":1,"a":2} {"time":1,"a":2} {"time":2,"a":1}`, `{"time":1,"a":2} {"time":2,"a":1}`},
		{`{"time":2,"a":1} {"time":2,"a":1} {"time":3,"a":1}`, `{"time":2,"a":1} {"time":3,"a":1}`},
		{`{"time":3,"a":1}`, ``},
	} {
		var events []json.RawMessage
		for raw := range strings.FieldsSeq(c.events) {
			events = append(events, json.RawMessage(raw))
		}
		out.Reset()
		if err := f.print(events); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != c.want {
			t.Errorf("answer %d: printed %s, want %s", i, got, c.want)
		}
	}
}

// TestReadTime: unix milliseconds, a duration ago, or a date.
func TestReadTime(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for text, want := range map[string]int64{
		"0": 0, "1700000000000": 1_700_000_000_000, "90m": 1_700_000_000_000 - 90*60_000, "0s": 1_700_000_000_000, "1.5s": 1_699_999_998_500,
		"2023-11-14T22:13:20Z": 1_700_000_000_000, "2023-11-14T23:13:20+01:00": 1_700_000_000_000, "2023-11-14T22:13:20.5Z": 1_700_000_000_500,
		"2023-11-14T22:13:20": 1_700_000_000_000, "2023-11-14": 1_699_920_000_000,
	} {
		if got, err := readTime(text, now); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "-5m", "yesterday", "14.11.2023", "2023-13-01", "1e3"} {
		if got, err := readTime(text, now); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

// TestAttemptsByHost: the time from ACTIVE to the outcome, the slowest host first; what is under way or began before counts not.
func TestAttemptsByHost(t *testing.T) {
	events := items(t, `[
		{"time":1,"messageId":"0","state":"DELIVERED","url":"https://old.example/"},
		{"time":1,"messageId":"a","state":"ACTIVE","url":"https://a.example/x"},
		{"time":2,"messageId":"b","state":"ACTIVE","url":"https://b.example/x"},
		{"time":4,"messageId":"a","state":"DELIVERED","url":"https://a.example/x"},
		{"time":9,"messageId":"c","state":"ACTIVE","url":"https://a.example/y"},
		{"time":502,"messageId":"b","state":"ERROR","responseStatus":503,"url":"https://b.example/x"},
		{"time":502,"messageId":"b","state":"FAILED","responseStatus":503,"url":"https://b.example/x"},
		{"time":600,"messageId":"d","state":"ACTIVE","url":"https://a.example/y"},
		{"time":609,"messageId":"d","state":"ERROR","responseStatus":0,"error":"refused","url":"https://a.example/y"}]`)
	want := []destinationRow{{"b.example", 1, 1, 500, 500, 500, "503"}, {"a.example", 2, 1, 9, 9, 9, "refused"}}
	if got := attemptsByHost(events); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestHotKeys counts the keys that commands name, at the places that the table of commands says.
func TestHotKeys(t *testing.T) {
	h := &hotKeys{table: command.NewTable(), begin: time.UnixMilli(0), counts: map[string]map[string]int{}}
	for _, line := range []string{
		`1700000000.000001 [0 127.0.0.1:1] "SET" "a b" "v"`, `1700000000.000002 [0 127.0.0.1:1] "get" "a b"`, `1700000000.000003 [0 127.0.0.1:1] "GET" "a b"`,
		`1700000000.000004 [0 127.0.0.1:1] "MSET" "k1" "a b" "k\x001" "v"`, `1700000000.000005 [0 lua] "PING"`, `OK`, `1700000000.000006 [0 127.0.0.1:1] "NONSENSE" "a b"`, `x] "SET"`,
	} {
		h.line(line)
	}
	rows, err := h.rows(time.UnixMilli(2000))
	want := []any{keyRow{"a b", 1.5, 3, "GET"}, keyRow{"k\x001", 0.5, 1, "MSET"}, keyRow{"k1", 0.5, 1, "MSET"}}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("got %+v, %v, want %+v", rows, err, want)
	}
}

// TestTopSortsAndFilters: figures from the largest on, texts by their letters, and the names that have a text.
func TestTopSortsAndFilters(t *testing.T) {
	names := func(tp *top, rows []any) (all []string) {
		for _, row := range tp.arrange(tp.section(), rows) {
			all = append(all, textOf(row, "name"))
		}
		return all
	}
	for _, c := range []struct {
		sort, filter string
		reverse      bool
		want         string
	}{{"KEYS", "", false, "b a shop"}, {"keys", "", true, "shop a b"}, {"DATABASE", "", false, "a b shop"}, {"BYTES", "SH", false, "shop"}} {
		tp := &top{by: databaseSection, sortBy: c.sort, filter: c.filter, reverse: c.reverse}
		rows := items(t, `[{"name":"shop","keys":2,"bytes":1},{"name":"a","keys":3,"bytes":9},{"name":"b","keys":20,"bytes":5}]`)
		if got := strings.Join(names(tp, rows), " "); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
	tp := &top{by: databaseSection}
	if tp.press('s'); tp.sortBy != "DATABASE" {
		t.Errorf("s sorts by %q", tp.sortBy)
	}
	for _, key := range "/shq\x7f\r" {
		tp.press(key)
	}
	if tp.filter != "sh" || tp.typing {
		t.Errorf("the filter is %q, typing %v", tp.filter, tp.typing)
	}
	if _, err := tp.section().column("KEYZ"); err == nil || !strings.Contains(err.Error(), "did you mean KEYS?") {
		t.Errorf("%v", err)
	}
}

// TestKeysAreRead: characters, arrows, and sequences that mean nothing here.
func TestKeysAreRead(t *testing.T) {
	for text, want := range map[string][]rune{"q": {'q'}, "äb": {'ä', 'b'}, "\x1b[Ax": {keyUp, 'x'}, "\x1b": {'\x1b'}, "\x1b[15~": {0}, "\x03": {keyInterrupt}} {
		var got []rune
		for rest := []byte(text); len(rest) > 0; {
			key, used := keyOf(rest)
			got, rest = append(got, key), rest[used:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}
