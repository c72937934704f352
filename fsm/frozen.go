package fsm

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// Frozen is the state as it was after one entry. It never changes, so it can be
// written out or read at leisure while the machine goes on.
type Frozen struct {
	s           *State
	index, term uint64
}

// Index is the log index of the state.
func (f *Frozen) Index() uint64 { return f.index }

// Fork is the state as it is now, in constant time.
func (m *Machine) Fork() *Frozen {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.freeze()
}

func (m *Machine) freeze() *Frozen { return &Frozen{s: m.state.fork(), index: m.index, term: m.term} }

// Digest is a hash of everything replicated, in hexadecimal. Nodes with equal
// states give equal digests, however they came to them.
func (f *Frozen) Digest() string {
	h := sha256.New()
	if err := f.writeSections(h); err != nil {
		panic("fsm: a hash refused to be written: " + err.Error())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the state as a snapshot; see snapshot.go and snapshot_frames.go for the format.
func (f *Frozen) Write(w io.Writer) error { return f.writeSnapshot(w) }
