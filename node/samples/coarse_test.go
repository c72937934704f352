package samples

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestWeekOfFiveMinutes: a coarse sample has the mean of the rates and the worst of the rest; the last day is a part of the week.
func TestWeekOfFiveMinutes(t *testing.T) {
	n := newNode()
	requests := prometheus.NewCounter(prometheus.CounterOpts{Name: "trireme_http_requests_total"})
	resident := prometheus.NewGauge(prometheus.GaugeOpts{Name: "process_resident_memory_bytes"})
	free := prometheus.NewGauge(prometheus.GaugeOpts{Name: "trireme_disk_free_bytes"})
	n.registry.MustRegister(requests, resident, free)
	n.now = time.UnixMilli(0)
	n.after(0)
	for i := range 8 * 24 * 12 * 3 { // eight days
		requests.Add(float64(100 * (1 + i%3))) // 1, 2 and 3 a second
		resident.Set(float64(i % 3))
		free.Set(float64(100 - i%3))
		n.after(Coarse / 3)
	}
	week, day := n.Read(Question{Range: Week}), n.Read(Question{Range: Day})
	if len(week.Time) != KeptCoarse+1 && len(week.Time) != KeptCoarse || week.EverySeconds != 300 || !slices.IsSorted(week.Time) {
		t.Fatalf("%d samples, one for %d s", len(week.Time), week.EverySeconds)
	}
	for i := 1; i < len(week.Time)-1; i++ {
		if r := week.Requests[i]; r < 1.99 || r > 2.01 || week.Resident[i] != 2 || week.DiskFree[i] != 98 || week.Time[i]-week.Time[i-1] != 300_000 {
			t.Fatalf("sample %d: %v requests a second, %v and %v bytes", i, r, week.Resident[i], week.DiskFree[i])
		}
	}
	if k := len(day.Time); k < 287 || k > 289 || !slices.Equal(day.Requests, week.Requests[len(week.Time)-k:]) {
		t.Errorf("%d samples of a day", k)
	}
}

// TestCoarseSamplesOutliveTheProcess: a history goes on with what the file of the one before it has, but for times to come; a file that
// is none is told and replaced.
func TestCoarseSamplesOutliveTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.json")
	run := func(now time.Time, failed func(error)) *node {
		n := newNode()
		n.now = now
		if err := n.Keep(file); err != nil {
			failed(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		n.Run(ended, failed)
		return n
	}
	none := func(err error) { t.Error(err) }
	first := newNode()
	if err := first.Keep(file); err != nil {
		t.Fatal(err)
	}
	first.after(0)
	for range 100 {
		first.after(Every)
	}
	if err := first.save(); err != nil {
		t.Fatal(err)
	}
	want := first.Read(Question{Range: Week})
	if len(want.Time) < 3 {
		t.Fatal(want.Time)
	}
	if got := run(first.now, none).Read(Question{Range: Week}); !slices.Equal(got.Time, want.Time) || !slices.Equal(got.P99, want.P99) {
		t.Errorf("%v, want %v", got.Time, want.Time)
	}
	middle := time.UnixMilli(want.Time[1])
	if got := run(middle, none).Read(Question{Range: Week}); !slices.Equal(got.Time, want.Time[:2]) {
		t.Errorf("%v before %v", got.Time, middle)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := 0
	run(middle, func(error) { told++ })
	if got := run(middle, none).Read(Question{Range: Week}); told != 1 || len(got.Time) != 0 {
		t.Errorf("told %d times, %v", told, got.Time)
	}
}
