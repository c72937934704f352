package fsm

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/search"
)

// Search keeps a node's search indexes: it receives what entries have changed, and answers what
// reads ask. Nothing that it says reaches the state.
type Search interface {
	search.Index
	// Applied is called after every entry, in the order of the log, with its notifications:
	// those of keys only while Machine.Track asks for them. The machine is locked meanwhile: it must
	// not wait, nor call the machine. So a View of the state implies that the index has its changes.
	Applied(index uint64, notes []env.Notification)
	// Restored is called in place of Applied when the whole state was replaced.
	Restored(index uint64)
}

// SetSearch gives the machine its search indexes. What was applied before is in a View made afterwards, what is
// applied later is received.
func (m *Machine) SetSearch(s Search) { m.search.Store(&s) }

func (m *Machine) notifySearch(index uint64, notes []env.Notification, replaced bool) {
	f := m.search.Load()
	switch {
	case f == nil:
	case replaced:
		(*f).Restored(index)
	default:
		(*f).Applied(index, notes)
	}
}

// Until ends waiting reads when done closes: their client has gone.
func (v *View) Until(done <-chan struct{}) { v.done = done }

// Searched are the names of the databases that have search indexes.
func (v *View) Searched() (names []string) {
	for d := v.s.first(has(hasIndexes)); d != nil; d = v.s.after(d, has(hasIndexes)) {
		names = append(names, d.name)
	}
	return names
}

// Searched are the search indexes of a database and its number.
type Searched struct {
	Number  uint64
	Indexes []*search.Definition
}

// SearchedIn are the search indexes of the database of a name: none if there is no such database.
func (v *View) SearchedIn(name string) (s Searched) {
	if d := v.s.database(name); d != nil {
		s = Searched{Number: d.id, Indexes: d.search.All()}
	}
	return s
}

// Keys calls f with the keyspace of the database of that number and the environment to read it in; it does nothing if
// there is no such database. Nothing may be changed or kept beyond the view.
func (v *View) Keys(name string, number uint64, f func(db *keyspace.DB, e *env.Env)) {
	if d := v.s.database(name); d != nil && d.id == number {
		f(d.keys, &v.e)
	}
}
