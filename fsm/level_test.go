package fsm

import (
	"errors"
	"testing"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
)

// levelEntry is an entry of one request.
func levelEntry(stamp int64, code uint16, body []byte) []byte {
	e := Entry{Stamp: stamp, Term: 1, Requests: []Request{{Code: code, Body: body}}}
	return e.Encode()
}

// TestOperationsAboveTheLevelAreRefused: every operation of a later level stops the machine below that level, whatever its
// argument, and changes nothing. A node that applied it would differ from one of the older version, which can't.
func TestOperationsAboveTheLevelAreRefused(t *testing.T) {
	table, later := command.NewTable(), 0
	for code, o := range byCode {
		if o == nil || o.since() <= env.Base {
			continue
		}
		later++
		m := NewMachineWith(table)
		if _, err := m.Apply(1, 1, levelEntry(1000, SetLevel.Code, SetLevel.Body(LevelChange{Level: env.Base}))); err != nil {
			t.Fatal(err)
		}
		before := m.Fork().Digest()
		if _, err := m.Apply(2, 1, levelEntry(1000, uint16(code), nil)); !errors.Is(err, ErrUnknownOperation) {
			t.Errorf("operation %d (%s) of level %d at level %d: %v", code, o.name(), o.since(), env.Base, err)
		}
		if m.Fork().Digest() != before {
			t.Errorf("operation %d (%s) of level %d has changed the state at level %d", code, o.name(), o.since(), env.Base)
		}
	}
	if later == 0 {
		t.Error("no operation is of a later level")
	}
	for code, o := range byCode {
		if o == nil {
			continue
		}
		if got, err := find(uint16(code), o.since()); err != nil || got != o {
			t.Errorf("operation %d at its own level %d: %v", code, o.since(), err)
		}
	}
}

// TestLevelNeverFalls: an entry with a lower level than the one in force is applied without effect.
func TestLevelNeverFalls(t *testing.T) {
	m := NewMachine()
	level := func() (l env.Level) {
		m.View(0, [16]byte{}, func(v *View) { l = v.Level() })
		return l
	}
	for i, c := range []struct{ to, want env.Level }{{env.Base, env.Base}, {MaxLevel, MaxLevel}, {env.Base, MaxLevel}, {0, MaxLevel}} {
		out, err := m.Apply(uint64(i+1), 1, levelEntry(1000, SetLevel.Code, SetLevel.Body(LevelChange{Level: c.to})))
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].Value.(LevelChange).Level; got != c.want || level() != c.want {
			t.Errorf("set to %d: answered %d, level %d, want %d", c.to, got, level(), c.want)
		}
	}
	index, _ := m.Applied()
	if _, err := m.Apply(index+1, 1, levelEntry(1000, SetLevel.Code, SetLevel.Body(LevelChange{Level: MaxLevel + 1}))); !errors.Is(err, ErrUnknownLevel) {
		t.Errorf("a level that this binary does not know: %v", err)
	}
	if level() != MaxLevel {
		t.Errorf("the level is %d after it", level())
	}
}
