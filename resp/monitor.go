package resp

import (
	"trireme/fsm"
	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/reply"
	"trireme/httpapi/hub"
)

// spy is a connection's view of what all nodes execute in its database.
type spy struct {
	c    *conn
	as   acl.Identity
	feed *hub.Monitor
	stop chan struct{}
	done chan struct{}
}

var monitorWords = [][]byte{[]byte("MONITOR")}

func (c *conn) monitor([][]byte) {
	switch {
	case c.s.hub == nil:
		c.emit(reply.Error("ERR this server has no monitor"))
		return
	case c.spy != nil:
		c.emit(reply.OK())
		return
	}
	m := &spy{c: c, as: c.as, feed: c.s.hub.Monitor(c.s.life, c.database()), stop: make(chan struct{}), done: make(chan struct{})}
	c.spy = m
	c.info.set(func(t *told) { t.monitors = true })
	c.emit(reply.OK())
	if c.flush() != nil { // lines come after it
		c.ending = true
	}
	go m.pump() // ends with stop, or with the monitor or the connection
}

func (c *conn) leaveMonitor() {
	if c.spy == nil {
		return
	}
	close(c.spy.stop)
	c.spy.feed.Close()
	<-c.spy.done
	c.spy = nil
	c.info.set(func(t *told) { t.monitors = false })
}

// pump sends lines until it is stopped. A monitor that lags, or whose user may not look
// any more, ends with its connection.
func (m *spy) pump() {
	defer close(m.done)
	var lines []string
	var out []byte
	for {
		select {
		case <-m.feed.Wake():
		case <-m.stop:
			return
		}
		if !m.permitted() {
			m.end()
			return
		}
		var ended error
		lines, ended = m.feed.Take(lines)
		out = out[:0]
		for _, line := range lines {
			out = append(append(append(out, '+'), line...), '\r', '\n')
		}
		err := m.c.out.send(out)
		if err == nil {
			err = m.c.out.room(m.c.s.limits.OutputBytes)
		}
		if ended != nil || err != nil {
			m.end()
			return
		}
	}
}

// end closes the connection, unless it has ended the monitor by itself.
func (m *spy) end() {
	select {
	case <-m.stop:
	default:
		m.c.kill()
	}
}

func (m *spy) permitted() (ok bool) {
	m.c.s.engine.Local(func(v *fsm.View) {
		_, refusal := v.Check(m.as, command.RESP, monitorWords)
		ok = refusal == nil
	})
	return ok
}
