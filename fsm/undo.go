package fsm

import "github.com/trireme-dev/trireme/fsm/command"

// Mark keeps the keys of the database that tx runs in, or its messages and runs, as they are,
// and returns what puts them back. Keeping takes constant time.
func (s *State) Mark(tx *command.Tx, messages bool) (undo func()) {
	d := s.database(tx.Database)
	switch {
	case messages:
		d = s.openWork(d)
		messages, workflows := d.messages.Fork(), d.workflows.Fork()
		return func() { d.messages, tx.Messages, d.workflows, tx.Workflows = messages, messages, workflows, workflows }
	case s.open(d).keys != tx.DB:
		panic("fsm: a script runs in a database that is not the state's")
	}
	d = s.open(d)
	before := d.keys.Fork()
	return func() { d.keys, tx.DB = before, before }
}

// GiveStores gives tx the messages and the runs of its database, which most commands don't need.
func (s *State) GiveStores(tx *command.Tx) {
	d := s.database(tx.Database)
	if !tx.ReadOnly {
		d = s.openWork(d)
	}
	tx.Messages, tx.Workflows = d.queue(s.blank), d.runs(s.blank)
}

// Measure counts anew the memory that is used outside the keys of tx's database.
func (s *State) Measure(tx *command.Tx) { s.measure(tx, s.database(tx.Database)) }
