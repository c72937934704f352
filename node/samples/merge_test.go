package samples_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/node/samples"
)

// columns are n samples from a time on, each the same.
func columns(t *testing.T, from int64, n int, value float64) (c samples.Columns) {
	t.Helper()
	c.EverySeconds = 10
	all := map[string][]float64{}
	for _, name := range []string{"commands", "requests", "delivered", "failed", "p50Ms", "p99Ms", "messages", "deadLetters", "runs", "overdueSeconds", "memoryBytes", "residentBytes", "diskFreeBytes"} {
		all[name] = slices.Repeat([]float64{value}, n)
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		c.Time = append(c.Time, from+int64(i)*10_000)
	}
	return c
}

// TestMerge: rates add up, what all nodes have counts once, of latencies and disks the worst; samples belong together by time, and
// whoever had none at a time is not counted then.
func TestMerge(t *testing.T) {
	got := samples.Merge([]samples.Named{
		{"n1", columns(t, 1_000_000, 3, 5)}, {"n2", columns(t, 1_003_000, 3, 7)}, {"n3", columns(t, 1_024_000, 1, 2)},
	}, []samples.Missing{{"n4", "it does not answer"}})
	for name, c := range map[string]struct{ got, want []float64 }{ // unordered: each by itself
		"commands": {got.Commands, []float64{12, 12, 14}}, "requests": {got.Requests, []float64{12, 12, 14}}, "delivered": {got.Delivered, []float64{12, 12, 14}}, "failed": {got.Failed, []float64{12, 12, 14}},
		"p99": {got.P99, []float64{7, 7, 7}}, "messages": {got.Messages, []float64{7, 7, 7}}, "resident": {got.Resident, []float64{7, 7, 7}}, "disk": {got.DiskFree, []float64{5, 5, 2}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if !slices.Equal(got.Nodes, []string{"n1", "n2", "n3"}) || len(got.Missing) != 1 || got.Missing[0].Node != "n4" || len(got.Time) != 3 {
		t.Errorf("%+v", got)
	}
	if text, err := json.Marshal(samples.Merge(nil, nil)); err != nil || !json.Valid(text) || slices.Contains([]string{"null"}, string(text)) || string(text)[0] != '{' {
		t.Errorf("of no node: %s %v", text, err)
	}
}
