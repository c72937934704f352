package fsm_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
)

// seeds are entries and a snapshot that the product wrote.
func seeds(f *testing.F) (entries [][]byte, snapshot []byte) {
	m := fsm.NewMachine()
	l := newLog(11)
	apply := func(data []byte) []fsm.Outcome {
		entries = append(entries, data)
		o, err := m.Apply(l.index, l.term, data)
		if err != nil {
			f.Fatal(err)
		}
		return o
	}
	l.open(apply)
	for range 50 {
		apply(l.entry(l.request(l.batch()), l.request(l.batch())))
	}
	var b bytes.Buffer
	if err := m.Fork().Write(&b); err != nil {
		f.Fatal(err)
	}
	return entries, b.Bytes()
}

// FuzzEntry decodes and applies arbitrary entries: an error, or outcomes, never a
// panic; what decodes is written back as it was.
func FuzzEntry(f *testing.F) {
	entries, _ := seeds(f)
	for _, e := range entries {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := fsm.DecodeEntry(data)
		if err != nil {
			if !errors.Is(err, fsm.ErrEntry) {
				t.Fatalf("unnamed error %v", err)
			}
			return
		}
		if again, err := fsm.DecodeEntry(e.Encode()); err != nil || len(again.Requests) != len(e.Requests) {
			t.Fatalf("written back: %v", err)
		}
		m := fsm.NewMachine()
		m.Apply(1, e.Term, data)
		m.Apply(2, e.Term, data)
	})
}

// FuzzFragments applies arbitrary fragments and what is behind them: an error, or outcomes, never a panic.
func FuzzFragments(f *testing.F) {
	entries, _ := seeds(f)
	for _, e := range entries {
		n, err := fsm.DecodeEntry(e)
		if err != nil {
			f.Fatal(err)
		}
		first, rest := inFragments(n, n.Term)
		f.Add(first, rest, n.Term)
	}
	f.Fuzz(func(t *testing.T, first, rest []byte, term uint64) {
		m := fsm.NewMachine()
		for i, data := range [][]byte{first, rest, first, first, rest, rest} {
			if _, err := m.Apply(uint64(i+1), term, data); err != nil && !errors.Is(err, fsm.ErrEntry) && !errors.Is(err, fsm.ErrUnknownOperation) {
				t.Fatalf("unnamed error %v", err)
			}
		}
	})
}

// FuzzSnapshot restores arbitrary bytes: an error, or a state that writes the same
// bytes.
func FuzzSnapshot(f *testing.F) {
	_, snapshot := seeds(f)
	f.Add(snapshot)
	f.Add(snapshot[:len(snapshot)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		m := fsm.NewMachine()
		before := m.Fork().Digest()
		if err := m.Restore(bytes.NewReader(data)); err != nil {
			if !errors.Is(err, fsm.ErrSnapshot) {
				t.Fatalf("unnamed error %v", err)
			}
			if m.Fork().Digest() != before {
				t.Fatal("a refused snapshot changed the state")
			}
		}
	})
}

// TestSnapshotDamage flips bits of a snapshot one at a time, each bit of its first bytes
// and one of every byte behind them, and cuts it at many lengths: each is refused.
func TestSnapshotDamage(t *testing.T) {
	var snapshot []byte
	m := fsm.NewMachine()
	l := newLog(12)
	apply := func(data []byte) []fsm.Outcome {
		o, err := m.Apply(l.index, l.term, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	l.open(apply)
	for range 20 {
		apply(l.entry(l.request(l.batch())))
	}
	var b bytes.Buffer
	if err := m.Fork().Write(&b); err != nil {
		t.Fatal(err)
	}
	snapshot = b.Bytes()
	victim := fsm.NewMachine() // one for all: a command table takes longer than a restore
	for i := range snapshot {
		for bit := range 8 {
			if i > 100 && bit != i%8 {
				continue
			}
			bad := bytes.Clone(snapshot)
			bad[i] ^= 1 << bit
			if err := victim.Restore(bytes.NewReader(bad)); err == nil {
				t.Fatalf("byte %d, bit %d: a damaged snapshot was taken", i, bit)
			}
		}
		if i%5 != 0 {
			continue
		}
		if err := victim.Restore(bytes.NewReader(snapshot[:i])); err == nil {
			t.Fatalf("a snapshot of %d of %d bytes was taken", i, len(snapshot))
		}
	}
	if _, _, err := fsm.VerifySnapshot(bytes.NewReader(append(bytes.Clone(snapshot), 0))); err == nil {
		t.Fatal("data behind the end were taken")
	}
}
