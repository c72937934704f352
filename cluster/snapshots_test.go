package cluster

import (
	"math"
	"testing"
)

// TestSnapshotsInProportion holds when a snapshot is due: what it costs against what a restart
// has to apply again.
func TestSnapshotsInProportion(t *testing.T) {
	const mb, gb = 1 << 20, 1 << 30
	o := Options{}
	o.defaults()
	for name, c := range map[string]struct {
		since      appliedSince
		size, keys int64
		want       bool
	}{
		"nothing applied":                                   {},
		"a small state, many entries":                       {appliedSince{entries: 50_000, bytes: mb}, 10 * mb, 100_000, true},
		"a small state, few entries":                        {appliedSince{entries: 49_999, bytes: mb}, 10 * mb, 100_000, false},
		"a large state, many small entries":                 {appliedSince{entries: 400_000, bytes: 80 * mb}, 2 * gb, 20_000_000, false},
		"a large state, entries of as many bytes":           {appliedSince{entries: 60_000, bytes: 301 * mb}, 300 * mb, 3_000_000, true},
		"a small state, many bytes":                         {appliedSince{entries: 10, bytes: 65 * mb}, mb, 10, true},
		"a state of 300 MB, 65 MB of log":                   {appliedSince{entries: 10, bytes: 65 * mb}, 300 * mb, 3_000_000, false},
		"a state of 300 MB, 301 MB of log":                  {appliedSince{entries: 10, bytes: 301 * mb}, 300 * mb, 3_000_000, true},
		"a state of 8 GB, more log than a restart may read": {appliedSince{entries: 10, bytes: gb + 1}, 8 * gb, 20_000_000, true},
		"many commands in few bytes":                        {appliedSince{entries: 10, bytes: mb, commands: 1_000_001}, mb, 10, true},
		"many commands, more keys":                          {appliedSince{entries: 10, bytes: mb, commands: 1_000_001}, gb, 20_000_000, false},
		"half as many commands as keys":                     {appliedSince{entries: 10, bytes: mb, commands: 10_000_001}, gb, 20_000_000, true},
	} {
		if got := o.due(c.since, c.size, c.keys); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if o.entriesLimit() != 1_000_000 {
		t.Error(o.entriesLimit())
	}
	o.SnapshotThreshold = math.MaxUint64
	if o.due(appliedSince{entries: 1 << 40}, 0, 0) || o.entriesLimit() < 1<<62 {
		t.Error("the greatest threshold overflows")
	}
}
