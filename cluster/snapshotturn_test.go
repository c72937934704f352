package cluster

import (
	"testing"
	"time"
)

// TestSnapshotTurns: who may begin a snapshot beside others.
func TestSnapshotTurns(t *testing.T) {
	for name, c := range map[string]struct {
		leads  bool
		waited time.Duration
		bytes  int64
		others []snapshotPhase
		want   bool
	}{
		"alone":             {leads: true, want: true},
		"a follower, first": {others: []snapshotPhase{snapshotIdle, snapshotDue}, want: true},
		"a follower beside another that has begun": {others: []snapshotPhase{snapshotIdle, snapshotBegun}, waited: time.Minute},
		"the leader at once":                       {leads: true, others: []snapshotPhase{snapshotIdle, snapshotIdle}},
		"the leader after the others":              {leads: true, waited: leaderWaits, others: []snapshotPhase{snapshotIdle, snapshotIdle}, want: true},
		"the leader before a follower":             {leads: true, waited: time.Minute, others: []snapshotPhase{snapshotIdle, snapshotDue}},
		"the leader beside a follower":             {leads: true, waited: time.Minute, others: []snapshotPhase{snapshotBegun, snapshotIdle}},
		"after a long time":                        {leads: true, waited: longestTurn, others: []snapshotPhase{snapshotBegun, snapshotDue}, want: true},
		"a log that grows too long":                {others: []snapshotPhase{snapshotBegun, snapshotDue}, bytes: overdueBytes + 1, want: true},
	} {
		if got := mayBegin(c.leads, c.waited, c.bytes, c.others); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
