package fsm

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Progress says how far an apply has come. A node keeps it in memory that outlives the process, so that the next one knows at
// which entry the last one ended: see package cluster/poison. It is written without any synchronization, by the goroutine
// that applies.
type Progress struct {
	// Index is the entry that is being applied, 0 between two entries.
	Index uint64
	// Request is the number of the request in the entry, from 1; 0 stands for the work before the requests and after them.
	Request uint64
	// Database is the number of the database that is being worked on, 0 if it is none or not known yet.
	Database uint64
}

// KeepProgress has p say how far applies have come. It must not be called while an entry is being applied.
func (m *Machine) KeepProgress(p *Progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state.applier.progress = p
}

// Apply applies the entry at index, written in term. There are no outcomes if it is a fragment of a large one, or the rest behind fragments
// that are not all there. An error means that this binary can't follow the log any further and must stop.
func (m *Machine) Apply(index, term uint64, data []byte) ([]Outcome, error) {
	m.mu.RLock() // a snapshot may replace the state
	p := m.state.applier.progress
	m.mu.RUnlock()
	p.Request, p.Database = 0, 0
	p.Index = index
	outcomes, err := m.apply(index, term, data)
	p.Index = 0 // and it stays where apply panics
	return outcomes, err
}

// Passage describes an entry that this node does not apply, or one request of it.
type Passage struct {
	// Operation is the name of the request's operation, empty if it is not one request.
	Operation string
	// Database is the name of the database that was worked on when a process ended, with its number; empty if it was none.
	Database string
	Number   uint64
	// Databases are the databases of all requests of the entry, in the order of the requests.
	Databases []string
}

// Describe says of an entry that is not applied yet what is known of it, by how far a process had come with it.
func (m *Machine) Describe(data []byte, at Progress) (out Passage) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for d := m.state.first(nil); d != nil && at.Database != 0; d = m.state.after(d, nil) {
		if d.id == at.Database {
			out.Database, out.Number = d.name, d.id
			break
		}
	}
	n := m.peekEntry(data)
	if n == nil {
		return out
	}
	seen := map[string]bool{}
	for i := range n.Requests {
		q := &n.Requests[i]
		one := uint64(i)+1 == at.Request
		if one && int(q.Code) < len(byCode) && byCode[q.Code] != nil {
			out.Operation = byCode[q.Code].name()
		}
		name, of := DatabaseOf(q.Code, q.Body)
		if !of {
			continue
		}
		d := m.state.database(string(name))
		if d == nil {
			continue
		}
		if one && out.Number == 0 { // it ended before it came to the database
			out.Database, out.Number = d.name, d.id
		}
		if !seen[d.name] {
			seen[d.name] = true
			out.Databases = append(out.Databases, d.name)
		}
	}
	return out
}

// peekEntry decodes an entry, whose requests may begin in fragments, and changes nothing; nil if it can't be decoded. The lock is held.
func (m *Machine) peekEntry(data []byte) *Entry {
	if !IsRest(data) {
		n, err := DecodeEntry(data)
		if err != nil {
			return nil
		}
		return n
	}
	r, n := wire.NewReader(data), &Entry{}
	n.readHead(r)
	at, last := r.Uvarint(), r.Bytes()
	if r.Done() != nil || at != uint64(len(m.state.fragments.data)) {
		return nil
	}
	r = wire.NewReader(slices.Concat(m.state.fragments.data, last))
	n.Requests = DecodeRequests(r)
	if r.Done() != nil {
		return nil
	}
	return n
}
