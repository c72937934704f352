package scenario

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
	"github.com/trireme-dev/trireme/bench/internal/report"
)

func TestSnapshotsAreCounted(t *testing.T) {
	row := &report.Row{ID: "snapshots", AtMost: true, Line: mostAmplified}
	before := writes{disk: 1000, log: 500, snapshots: map[string]int64{"old": 70}}
	tell(row, load.Result{Requests: 10, Rate: 5, Seconds: 2}, before, writes{disk: 4000, log: 1500}, map[string]int64{"old": 70, "a": 300, "b": 400})
	row.Judge()
	if row.Median != 1.7 || row.Verdict != report.Holds {
		t.Errorf("%v %s, want 1.7: 1000 bytes of log, and 700 of two snapshots", row.Median, row.Verdict)
	}
	if notes := strings.Join(row.Notes, "\n"); !strings.Contains(notes, "2 snapshots wrote 700 B, the largest 400 B") || !strings.Contains(notes, "3.00 x") {
		t.Error(notes)
	}
}

func TestWatchedSnapshotsKeepTheirGreatestSize(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	looks := []map[string]int64{{"a": 10}, {"a": 30, "b": 5}, {"b": 2}}
	list := func() (map[string]int64, error) {
		now := looks[0]
		if looks = looks[1:]; len(looks) == 0 {
			stop()
		}
		return now, nil
	}
	seen := map[string]int64{}
	if err := watchSnapshots(ctx, list, seen); err != nil || !maps.Equal(seen, map[string]int64{"a": 30, "b": 5}) {
		t.Errorf("%v, %v", seen, err)
	}
	if err := watchSnapshots(t.Context(), func() (map[string]int64, error) { return nil, errors.New("no") }, seen); err == nil {
		t.Error("a directory that can't be read is passed over")
	}
}

func TestSnapshotsRow(t *testing.T) {
	b := bench(t, "")
	var rows []*report.Row
	put := func(list []*report.Row) { rows = append(rows, list...) }
	done := func(r *report.Row) bool { return r.Part == "500 keys" }
	b.Snapshots(t.Context(), []int{500, 2000}, time.Second, done, put)
	if len(rows) != 1 || rows[0].Part != "2000 keys" || rows[0].Median != 1 {
		t.Errorf("%+v", rows[0])
	}
}
