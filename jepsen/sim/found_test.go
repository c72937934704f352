package sim

import "testing"

// found are histories that have broken a rule, as small as they could be made. They guard what was repaired.
var found = map[string]History{
	// Who registers again ends the claims of its former process. What that does to a run was told by a later entry
	// only, and a node that was restored in between never heard of it.
	"orphans of a run are told in their entry": {804, []Step{
		{Elect, 2, 0, 0}, {Await, 0, 0, 0}, {Flow, 0, 0, 0}, {Claim, 2, 0, 0}, {Flow, 0, 0, 0}, {Reboot, 2, 0, 0}, {Elect, 0, 0, 0}, {Flow, 0, 0, 0}, {Reboot, 0, 0, 0},
	}},
	// Nobody trusts the first leader's clock, which lags by 11 s. The next one's is trusted: cluster time jumps, and the lease
	// of the first one's attempt was over before its own clock said so.
	"a queue keeps its order when cluster time jumps between leaders": {2340, []Step{
		{Enqueue, 0, 0, 0}, {Flow, 0, 0, 0}, {Pass, 0, 8, 0}, {Elect, 0, 0, 0}, {Flow, 0, 0, 0}, {Claim, 0, 0, 0}, {Flow, 0, 0, 0}, {Cut, 0, 0, 0},
		{Pass, 0, 5, 0}, {Elect, 2, 1, 0}, {Flow, 0, 0, 0}, {Claim, 2, 0, 0}, {Flow, 0, 0, 0},
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
