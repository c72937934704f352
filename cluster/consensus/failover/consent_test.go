package failover

import "testing"

// TestMajorityIsMoreThanHalf: half of an even number of voters, as there is while a node joins or leaves, is none.
func TestMajorityIsMoreThanHalf(t *testing.T) {
	for voters, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4} {
		for yes := range voters + 1 {
			if got := isMajority(yes, voters); got != (yes >= want) {
				t.Errorf("%d of %d: %v", yes, voters, got)
			}
		}
	}
}
