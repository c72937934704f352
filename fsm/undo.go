package fsm

import "github.com/trireme-dev/trireme/fsm/command"

// Mark keeps the keys of the database that tx runs in, or its messages and runs, as they are,
// and returns what puts them back. Keeping takes constant time.
func (s *State) Mark(tx *command.Tx, messages bool) (undo func()) {
	for _, d := range s.databases {
		if messages && d.messages == tx.Messages {
			messages, workflows := d.messages.Fork(), d.workflows.Fork()
			return func() { d.messages, tx.Messages, d.workflows, tx.Workflows = messages, messages, workflows, workflows }
		}
		if !messages && d.keys == tx.DB {
			before := d.keys.Fork()
			return func() { d.keys, tx.DB = before, before }
		}
	}
	panic("fsm: a script runs in a database that is not the state's")
}
