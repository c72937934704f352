package fsm

import (
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Checker asks Check about the rows of one request, one after the other.
type Checker struct{ tx *command.Tx }

// Checker is Check for many rows of one request. It is valid until the view makes the next one.
func (v *View) Checker(as acl.Identity, origin command.Origin) Checker {
	v.s.prepare(&v.checks, &v.e, &as, origin)
	return Checker{&v.checks}
}

// Check returns which command argv calls, or why it may not be called.
func (c Checker) Check(argv [][]byte) (*command.Command, *reply.Value) {
	if c.tx.DB != nil { // nobody has none
		c.tx.NextRow()
	}
	return c.tx.Table.Check(c.tx, argv)
}
