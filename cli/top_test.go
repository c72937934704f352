package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
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
