package fsm

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Arrive looks what there is for a blocking call of a client that has come in, and gives
// the call as it is meant from now on, and the one that is to be run before it waits, if there
// is one; see command.Wait.
func (v *View) Arrive(as acl.Identity, origin command.Origin, row *command.Command, argv [][]byte) (call, before [][]byte, found command.Arrival) {
	tx := v.prepare(&as, origin)
	if tx.User == nil {
		return argv, nil, command.Mistake
	}
	return row.Arrive(tx, argv)
}

// Lost is the error that ends the wait of a call for one of its keys, nil while it goes on.
func (v *View) Lost(as acl.Identity, row *command.Command, argv [][]byte, key string) *reply.Value {
	tx := v.prepare(&as, command.RESP)
	if tx.User == nil { // the refusal comes when the call is run
		return nil
	}
	return row.Lost(tx, argv, []byte(key))
}

// Refused is the error that a waiting call is answered with instead of an element that there
// is for it, nil if it may take the element.
func (v *View) Refused(as acl.Identity, row *command.Command, argv [][]byte) *reply.Value {
	tx := v.prepare(&as, command.RESP)
	if tx.User == nil { // the refusal comes when the call is run
		return nil
	}
	return row.Refused(tx, argv)
}

// MayReplicate reports whether CLIENT PAUSE holds a call back in its mode WRITE.
func (v *View) MayReplicate(as acl.Identity, row *command.Command, argv [][]byte) bool {
	tx := v.prepare(&as, command.RESP)
	return tx.User != nil && row.MayReplicate(tx, argv)
}

// Available is an upper bound of how many calls like this one a key has something for.
func (v *View) Available(as acl.Identity, origin command.Origin, row *command.Command, argv [][]byte, key string) int {
	tx := v.prepare(&as, origin)
	if tx.User == nil { // the refusal comes when the call is run
		return 1
	}
	return row.Available(tx, argv, []byte(key))
}
