package sim

import "testing"

// found are histories that have broken a rule, as small as they could be made. They guard what was repaired.
var found = map[string]History{
	// Who registers again ends the claims of its former process. What that does to a run was told by a later entry
	// only, and a node that was restored in between never heard of it.
	"orphans of a run are told in their entry": {804, []Step{
		{Elect, 2, 0, 0}, {Await, 0, 0, 0}, {Flow, 0, 0, 0}, {Claim, 2, 0, 0}, {Flow, 0, 0, 0}, {Reboot, 2, 0, 0}, {Elect, 0, 0, 0}, {Flow, 0, 0, 0}, {Reboot, 0, 0, 0},
	}},
	// The entry that claims an attempt lies 4 s before it gets into the log: the lease is counted from its stamp, and the judge
	// counted from its outcome.
	"a lease begins with the stamp": {21735, []Step{
		{Work, 0, 0, 0}, {Claim, 0, 0, 0}, {StartRun, 0, 0, 0}, {Gather, 0, 0, 0}, {Pass, 0, 7, 0}, {Lag, 1, 0, 0}, {Pass, 0, 7, 0}, {Pass, 0, 6, 0}, {Claim, 0, 0, 0},
	}},
	// Nobody trusts the first leader's clock, which lags by 11 s. The next one's is trusted: cluster time jumps, and the lease
	// of the first one's attempt was over before its own clock said so.
	"a queue keeps its order when cluster time jumps between leaders": {2340, []Step{
		{Enqueue, 0, 0, 0}, {Flow, 0, 0, 0}, {Pass, 0, 8, 0}, {Elect, 0, 0, 0}, {Flow, 0, 0, 0}, {Claim, 0, 0, 0}, {Flow, 0, 0, 0}, {Cut, 0, 0, 0},
		{Pass, 0, 5, 0}, {Elect, 2, 1, 0}, {Flow, 0, 0, 0}, {Claim, 2, 0, 0}, {Flow, 0, 0, 0},
	}},
	// The leader's wall clock is set back between its election and the first entry of its term. It agrees with
	// nobody's then, so cluster time must not stand still for 90 s.
	"a wall clock that is set back before a term opens is not believed": {66675, []Step{
		{Publish, 0, 0, 4}, {Publish, 0, 0, 0}, {Publish, 0, 0, 0}, {Publish, 0, 0, 0}, {Elect, 1, 1, 0}, {Publish, 0, 0, 0}, {SetWall, 1, 7, 0},
	}},
}

func TestFoundHistories(t *testing.T) {
	for name, h := range found {
		t.Run(name, func(t *testing.T) {
			if v := Run(h); v != nil {
				t.Fatal(v)
			}
		})
	}
}
