package fsm

import "trireme/fsm/command"

// Mark keeps the keys of the database that tx runs in, or the messages and runs of the cluster,
// as they are, and gives what puts them back. Keeping takes constant time.
func (s *State) Mark(tx *command.Tx, messages bool) (undo func()) {
	if messages {
		messages, flows := s.messages.Fork(), s.flows.Fork()
		return func() { s.messages, tx.Messages, s.flows, tx.Flows = messages, messages, flows, flows }
	}
	for _, d := range s.databases {
		if d.keys == tx.DB {
			before := d.keys.Fork()
			return func() { d.keys, tx.DB = before, before }
		}
	}
	panic("fsm: a script runs in a database that is not the state's")
}
