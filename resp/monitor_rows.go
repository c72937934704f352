package resp

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// monitored reports whether a client monitors commands on any node.
func (c *conn) monitored() bool { return c.s.hub != nil && c.s.hub.Monitored() }

// monitorRows sends executed rows to the monitors. The calls of a script follow the script's row.
func (c *conn) monitorRows(rows [][][]byte, values []reply.Value) {
	called := c.scriptCalled
	c.scriptCalled = nil
	if !c.monitored() {
		return
	}
	for i, argv := range rows {
		if row := c.s.table.Find(argv); row == nil || row.Flags&command.Admin != 0 {
			continue
		}
		if v := values[i]; !v.IsError() || !strings.HasPrefix(v.Text(), "NOPERM ") {
			c.s.hub.Executed(c.database(), c.info.addr, argv)
		}
		for _, call := range called {
			if call.Row == i {
				c.s.hub.Executed(c.database(), pubsub.ByScript, call.Argv)
			}
		}
	}
}

// noteCalls records the commands that the script of a row called on a view, for monitors.
func (c *conn) noteCalls(v *fsm.View, row int) {
	for _, n := range v.Called() {
		c.scriptCalled = append(c.scriptCalled, pubsub.Call{Row: row, Argv: n.Words()})
	}
}

// scriptCalls returns the commands that the scripts of a batch called. This node's own apply
// records them, possibly after the outcome has arrived, so the call may wait.
func (c *conn) scriptCalls(batch *fsm.Batch, results *fsm.Results) []pubsub.Call {
	if !c.monitored() {
		return nil
	}
	scripts := 0
	for _, argv := range batch.Rows {
		if c.s.table.Scripts(argv) {
			scripts++
		}
	}
	if scripts == 0 {
		return nil
	}
	return c.s.hub.Called(results.Index, results.Place, scripts)
}
