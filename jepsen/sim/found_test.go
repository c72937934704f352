package sim

import "testing"

// found are histories that have broken a rule, as small as they could be made. They guard what was repaired.
var found = map[string]History{
	// Who registers again ends the claims of its former process. What that does to a run was told by a later entry
	// only, and a node that was restored in between never heard of it.
	"orphans of a run are told in their entry": {804, []Step{
		{Elect, 2, 0, 0}, {Await, 0, 0, 0}, {Flow, 0, 0, 0}, {Claim, 2, 0, 0}, {Flow, 0, 0, 0}, {Reboot, 2, 0, 0}, {Elect, 0, 0, 0}, {Flow, 0, 0, 0}, {Reboot, 0, 0, 0},
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
