package resp

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// monitorSubscriber sends a connection the commands that all nodes execute in its database (MONITOR).
type monitorSubscriber struct {
	pump
	as    acl.Identity
	lines *pubsub.Monitor
}

// pump is a goroutine that sends messages to a connection.
type pump struct {
	c    *conn
	stop chan struct{} // closed by the connection
	done chan struct{} // closed when the goroutine has ended
}

func newPump(c *conn) pump { return pump{c, make(chan struct{}), make(chan struct{})} }

// end closes the connection, unless it has stopped the goroutine by itself.
func (p *pump) end() {
	select {
	case <-p.stop:
	default:
		p.c.kill()
	}
}

var monitorWords = [][]byte{[]byte("MONITOR")}

func (c *conn) monitor([][]byte) {
	switch {
	case c.s.hub == nil:
		c.emit(reply.Error("ERR this server has no monitor"))
		return
	case c.monitoring != nil:
		c.emit(reply.OK())
		return
	}
	m := &monitorSubscriber{pump: newPump(c), as: c.as, lines: c.s.hub.Monitor(c.s.life, c.database())}
	c.monitoring = m
	c.info.set(func(t *attributes) { t.monitors = true })
	c.emit(reply.OK())
	if c.flush() != nil { // lines come after it
		c.ending = true
	}
	go m.run() // ends with stop, or with the monitor or the connection
}

func (c *conn) closeMonitor() {
	if c.monitoring == nil {
		return
	}
	close(c.monitoring.stop)
	c.monitoring.lines.Close()
	<-c.monitoring.done
	c.monitoring = nil
	c.info.set(func(t *attributes) { t.monitors = false })
}

// run sends lines until it is stopped. A monitor that lags, or whose user loses the right,
// ends with its connection.
func (s *monitorSubscriber) run() {
	defer close(s.done)
	var lines []string
	var out []byte
	for {
		select {
		case <-s.lines.Wake():
		case <-s.stop:
			return
		}
		if !s.permitted() {
			s.end()
			return
		}
		var ended error
		lines, ended = s.lines.Take(lines)
		out = out[:0]
		for _, line := range lines {
			out = append(append(append(out, '+'), line...), '\r', '\n')
		}
		err := s.c.out.send(out)
		if err == nil {
			err = s.c.out.waitBelow(s.c.s.limits.OutputBytes)
		}
		if ended != nil || err != nil {
			s.end()
			return
		}
	}
}

func (s *monitorSubscriber) permitted() (ok bool) {
	s.c.s.engine.Local(func(v *fsm.View) {
		_, refusal := v.Check(s.as, command.RESP, monitorWords)
		ok = refusal == nil
	})
	return ok
}

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
