package fsm

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// levelEntry is an entry of one request.
func levelEntry(stamp int64, code uint16, body []byte) []byte {
	e := Entry{Stamp: stamp, Term: 1, Requests: []Request{{Code: code, Body: body}}}
	return e.Encode()
}

// machineAt1000 returns a machine whose clock stands at the time of the entries that follow.
func machineAt1000(t *testing.T) *Machine {
	m := NewMachine()
	if _, err := m.Apply(1, 1, levelEntry(1000, SetLevel.Code, SetLevel.Body(LevelChange{Level: env.Base}))); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestOperationsAboveTheLevelAreRefused: an operation of a later level is not proposed below that level, and stops the machine
// there, whatever its argument, without a change. A node that applied it would differ from one of the older version, which
// can't. At its own level every operation is found.
func TestOperationsAboveTheLevelAreRefused(t *testing.T) {
	const code = 95 // the highest that there is room for
	later := &Operation[Empty, Ack]{Code: code, Name: "of the next level", Since: env.Latest + 1, apply: func(s *State, _ *env.Env, _ Empty) (Ack, error) {
		s.epoch++
		return Ack{}, nil
	}}
	byCode[code] = later
	t.Cleanup(func() { byCode[code] = nil })
	m := machineAt1000(t)
	before := m.Fork().Digest()
	if err := Permitted(code, env.Latest); !errors.Is(err, ErrFeatureLevel) {
		t.Errorf("it is proposed at level %d: got %v, want %v", env.Latest, err, ErrFeatureLevel)
	}
	if err := Permitted(code, env.Latest+1); err != nil {
		t.Errorf("it is not proposed at its own level: %v", err)
	}
	if _, err := m.Apply(2, 1, levelEntry(1000, code, nil)); !errors.Is(err, ErrUnknownOperation) {
		t.Errorf("it is applied at level %d: got %v, want %v", env.Latest, err, ErrUnknownOperation)
	}
	if m.Fork().Digest() != before {
		t.Errorf("it has changed the state at level %d", env.Latest)
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

// refusesFormer reports whether an error is the one sentence about data of level 1, which names both ways to this version.
func refusesFormer(err error) bool {
	return errors.Is(err, ErrFormerLevel) && strings.Contains(err.Error(), "of feature level 1, which this version does not read: run version 0.2.0 on it") &&
		strings.Contains(err.Error(), "or export with that version and import into a new cluster") && !strings.Contains(err.Error(), "\n")
}

// TestFormerLevelsAreRefused: an entry that founds a cluster at a level below the base stops the machine, a snapshot and a backup of
// such a level are not read, and a backup that the log of version 0.2.0 holds stops the machine too. None changes the state.
func TestFormerLevelsAreRefused(t *testing.T) {
	for level := range env.Base {
		m := machineAt1000(t)
		before := m.Fork().Digest()
		entry := levelEntry(1000, BootstrapState.Code, BootstrapState.Body(Bootstrap{ClusterID: "c", Level: level}))
		if _, err := m.Apply(2, 1, entry); !refusesFormer(err) {
			t.Errorf("a cluster founded at level %d: %v", level, err)
		}
		if got, founds := FoundedAt(entry); !founds || got != level {
			t.Errorf("the entry founds a cluster: got level %d, %v, want %d", got, founds, level)
		}
		if m.Fork().Digest() != before {
			t.Error("the refused entry has changed the state")
		}
	}
	if _, founds := FoundedAt(levelEntry(1000, Advance.Code, nil)); founds {
		t.Error("another entry founds a cluster")
	}
	m := NewMachine()
	m.state.level = env.Base - 1
	var snapshot, file bytes.Buffer
	if err := m.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fork().Backup(&file, "0.1.0"); err != nil {
		t.Fatal(err)
	}
	into := NewMachine()
	before := into.Fork().Digest()
	if err := into.Restore(bytes.NewReader(snapshot.Bytes())); !refusesFormer(err) {
		t.Errorf("a snapshot: %v", err)
	}
	if _, _, err := VerifyBackup(bytes.NewReader(file.Bytes()), 0, nil); !refusesFormer(err) {
		t.Errorf("a backup: %v", err)
	}
	if into.Fork().Digest() != before {
		t.Error("the refused snapshot has changed the state")
	}
	part := BackupPart{ID: "r", Data: file.Bytes()}
	if out, err := into.Apply(1, 1, levelEntry(1000, StageBackup.Code, StageBackup.Body(part))); err != nil || out[0].Err != nil {
		t.Fatal(out, err)
	}
	if _, err := into.Apply(2, 1, levelEntry(1000, RestoreBackup.Code, RestoreBackup.Body(BackupRef{ID: "r", Size: uint64(file.Len())}))); !refusesFormer(err) {
		t.Errorf("a backup in the log: %v", err)
	}
}
