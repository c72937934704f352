package fsm

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// Arrive looks what there is for a blocking call of a client that has come in, and gives
// the call as it is meant from now on; see command.Wait.
func (v *View) Arrive(as acl.Identity, origin command.Origin, row *command.Command, argv [][]byte) (call [][]byte, found command.Arrival) {
	tx := v.s.tx(&v.e, &as, origin)
	if tx.User == nil {
		return argv, command.Mistake
	}
	return row.Arrive(tx, argv)
}

// Available is an upper bound of how many calls like this one a key has something for.
func (v *View) Available(as acl.Identity, origin command.Origin, row *command.Command, argv [][]byte, key string) int {
	tx := v.s.tx(&v.e, &as, origin)
	if tx.User == nil { // who hears it when the call is run
		return 1
	}
	return row.Available(tx, argv, []byte(key))
}
