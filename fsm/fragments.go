package fsm

import (
	"fmt"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// A large entry is written in fragments: all nodes write one at a time, and other entries go in between, where they would wait for the whole
// otherwise. A fragment holds bytes of the encoded requests. The last ones are in an entry of their own (entryRest), which is
// applied like one that holds all its requests. docs/design/fairness.md has the reasons.
const (
	entryFragment = 2 // the first byte of a fragment
	entryRest     = 3 // the first byte of the entry behind the fragments
)

// maxPreallocated bounds what the first fragment's word about the whole length allocates, in bytes.
const maxPreallocated = 64 << 20

// fragments are the requests of a large entry as far as they have come. They are replicated: a snapshot may be taken in between.
type fragments struct {
	term uint64 // of the leader that writes them; 0 if there are none
	data []byte // appended to, never changed: forks share it
}

// Fragment is a fragment of the encoded requests of an entry: what stands there from At on. Total is the length of all.
type Fragment struct {
	Term      uint64
	At, Total int
	Bytes     []byte
}

// Encode is the fragment in the form of the log.
func (f *Fragment) Encode() []byte {
	w := wire.Writer{B: make([]byte, 0, 32+len(f.Bytes))}
	w.Fixed([]byte{entryFragment})
	w.Uvarint(f.Term)
	w.Uvarint(uint64(f.At))
	w.Uvarint(uint64(f.Total))
	w.Bytes(f.Bytes)
	return w.B
}

// EncodeRest encodes an entry for the log whose requests begin in fragments: the fragments have the first at bytes of them, and rest has
// the others.
func (e *Entry) EncodeRest(at int, rest []byte) []byte {
	w := wire.Writer{B: make([]byte, 0, e.headSize()+32+len(rest))}
	e.head(&w, entryRest)
	w.Uvarint(uint64(at))
	w.Bytes(rest)
	return w.B
}

// IsFragment reports whether an entry of the log is a fragment, which has no outcomes.
func IsFragment(data []byte) bool { return len(data) > 0 && data[0] == entryFragment }

// IsRest reports whether the requests of an entry of the log begin in fragments.
func IsRest(data []byte) bool { return len(data) > 0 && data[0]&^entryFlags == entryRest }

// takeFragment takes in a fragment that was written in term. One that doesn't continue what is there ends it: its leader has given up.
func (m *Machine) takeFragment(index, term uint64, data []byte) error {
	r := wire.NewReader(data[1:])
	p := Fragment{Term: r.Uvarint(), At: int(r.Uvarint()), Total: int(r.Uvarint()), Bytes: r.Bytes()}
	if err := r.Done(); err != nil {
		return fmt.Errorf("%w: %w", ErrEntry, err)
	}
	m.mu.Lock()
	m.state.fragments.add(term, p)
	m.mu.Unlock()
	m.Skip(index, term)
	return nil
}

func (f *fragments) add(term uint64, p Fragment) {
	switch {
	case p.Term != term:
	case p.At == 0:
		*f = fragments{term, append(make([]byte, 0, max(len(p.Bytes), min(p.Total, maxPreallocated))), p.Bytes...)}
	case f.term == term && p.At == len(f.data):
		f.data = append(f.data, p.Bytes...)
	default:
		*f = fragments{}
	}
}

// decode reads an entry, whose requests may begin in fragments; those are no longer needed then. It is nil, without an error, if they are not all
// there: the leader that wrote them leads no more.
func (m *Machine) decode(term uint64, data []byte) (*Entry, error) {
	m.mu.RLock()
	had := m.state.fragments
	m.mu.RUnlock()
	rest := IsRest(data)
	if had.term != 0 && (rest || had.term != term) {
		m.mu.Lock()
		m.state.fragments = fragments{}
		m.mu.Unlock()
	}
	if !rest {
		return DecodeEntry(data)
	}
	r := wire.NewReader(data)
	n := &Entry{}
	n.readHead(r)
	at, last := r.Uvarint(), r.Bytes()
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	if n.Term != term || had.term != term || at != uint64(len(had.data)) {
		return nil, nil
	}
	r = wire.NewReader(append(had.data, last...))
	n.Requests = DecodeRequests(r)
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	return n, nil
}

// Fields codes the fragments for a snapshot. Decoded bytes alias the input.
func (f *fragments) Fields(c *wire.Codec) {
	c.Uvarint(&f.term)
	c.Bytes(&f.data)
}
