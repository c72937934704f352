package fsm

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
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
	m.lock()
	defer m.unlock()
	return m.freeze()
}

func (m *Machine) freeze() *Frozen { return &Frozen{s: m.state.fork(), index: m.index, term: m.term} }

// Digest is a hash of everything replicated, in hexadecimal. Nodes with equal
// states give equal digests, however they came to them.
//
// The digests of large payloads stand for their bytes, so that what is on the disk need not be read.
func (f *Frozen) Digest() string {
	return f.hash(func(out *frames) { out.digests = true })
}

// contentDigest is a hash of what a backup has: the whole state, or, with named, the state with the names of its large payloads.
func (f *Frozen) contentDigest(named bool) string {
	return f.hash(func(out *frames) { out.nameAll(named) })
}

func (f *Frozen) hash(form func(*frames)) string {
	h := sha256.New()
	out := newFrames(h)
	form(out)
	err := f.sections(out)
	if err == nil {
		err = out.end()
	}
	if err != nil {
		panic("fsm: a hash refused to be written: " + err.Error())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the state as a snapshot; see snapshot.go and snapshot_frames.go for the format.
func (f *Frozen) Write(w io.Writer) error { return f.writeSnapshot(w, nil) }

// WriteReferences writes the state as a snapshot that names the payloads of files. When it returns, everything that is named is
// in files, and durable. Below level env.Files it does what Write does.
func (f *Frozen) WriteReferences(w io.Writer, files payload.Files) error {
	if f.s.level < env.Files || files == nil {
		return f.Write(w)
	}
	if err := f.writeSnapshot(w, files); err != nil {
		return err
	}
	return files.Sync()
}
