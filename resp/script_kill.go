package resp

import (
	"strings"
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// readScript is a running script or function that only reads, so SCRIPT KILL and FUNCTION KILL can
// end it. A script in the log runs on all nodes alike, and only its budget ends it.
type readScript struct {
	function bool
	killed   atomic.Bool
}

// readScripts makes the scripts among rows, which run on a view, killable until the returned function
// is called.
func (c *conn) readScripts(rows [][][]byte) (ended func()) {
	for _, argv := range rows {
		if row := c.s.table.Find(argv); row != nil && row.Group() == "scripting" && row.Keys.Find != nil {
			c.info.script.Store(&readScript{function: strings.HasPrefix(row.Name, "fcall")})
			return func() { c.info.script.Store(nil) }
		}
	}
	return func() {}
}

// interruptible makes the scripts of a view stop once readScript.killed is set.
func (c *conn) interruptible(v *fsm.View) {
	if s := c.info.script.Load(); s != nil {
		v.Interruptible(s.killed.Load)
	}
}

func (c *conn) scriptKill(argv [][]byte) { c.killScripts(argv, false) }

func (c *conn) functionKill(argv [][]byte) { c.killScripts(argv, true) }

var (
	errBusyFunction = reply.Error("BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.")
	errBusyScript   = reply.Error("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
)

// killScripts ends the scripts, or the functions, of this node's connections to the database.
func (c *conn) killScripts(argv [][]byte, functions bool) {
	killed, otherKind := false, false
	c.s.clients.each(func(other *conn) {
		s := other.info.script.Load()
		switch {
		case s == nil || other.info.database() != c.database():
		case s.function == functions:
			s.killed.Store(true)
			killed = true
		default:
			otherKind = true
		}
	})
	switch {
	case killed:
		c.emit(reply.OK())
	case otherKind && functions:
		c.emit(errBusyScript)
	case otherKind:
		c.emit(errBusyFunction)
	default:
		var answer reply.Value
		c.s.engine.Local(func(v *fsm.View) { answer = v.Exec(c.as, command.RESP, argv) })
		c.emit(answer)
	}
}
