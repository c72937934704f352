package fsm

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
)

// TestStateTimeNeverGoesBack: an entry that is stamped earlier than one before it, by a leader with another clock, is applied at
// the time that the state has come to.
func TestStateTimeNeverGoesBack(t *testing.T) {
	m := NewMachineWith(command.NewTable())
	for i, stamp := range []int64{1000, 5000, 2000, 0, 5001} {
		if _, err := m.Apply(uint64(i+1), 1, levelEntry(stamp, Advance.Code, Advance.Body(AdvanceLimit{}))); err != nil {
			t.Fatal(err)
		}
		if want := []int64{1000, 5000, 5000, 5000, 5001}[i]; m.Clock() != want {
			t.Errorf("after a stamp of %d the state's time is %d, want %d", stamp, m.Clock(), want)
		}
	}
}

// TestNothingIsAppliedBelowTheLowWaterMark: a node has given up what is below its mark and told its client so, whether it was
// ever applied or not.
func TestNothingIsAppliedBelowTheLowWaterMark(t *testing.T) {
	m, index := NewMachineWith(command.NewTable()), uint64(0)
	apply := func(e Entry) []Outcome {
		index++
		e.Term, e.Stamp = 1, 1000
		out, err := m.Apply(index, 1, e.Encode())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	out := apply(Entry{Requests: []Request{{Code: Register.Code, Body: Register.Body(Registration{Node: "n1", Disk: "d1", Boot: 1})}}})
	session := out[0].Value.(Session).ID
	for _, mark := range []uint64{1, 10, 64, 70, 200} { // within a word of the set, at its edge, and beyond
		for _, seq := range []uint64{mark - 1, mark, mark + 1} {
			q := Request{Session: session, Seq: seq, Code: Advance.Code, Body: Advance.Body(AdvanceLimit{})}
			got := apply(Entry{LowWaters: []LowWater{{Session: session, Below: mark}}, Requests: []Request{q}})[0].Status
			want := Applied
			if seq < mark {
				want = SessionExpired
			}
			if got != want {
				t.Errorf("mark %d, sequence %d: status %d, want %d", mark, seq, got, want)
			}
		}
	}
}
