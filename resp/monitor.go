package resp

import (
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// monitorSubscriber sends a connection the commands that all nodes execute in its database (MONITOR).
type monitorSubscriber struct {
	c     *conn
	as    acl.Identity
	lines *pubsub.Monitor
	stop  chan struct{}
	done  chan struct{}
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
	m := &monitorSubscriber{c: c, as: c.as, lines: c.s.hub.Monitor(c.s.life, c.database()), stop: make(chan struct{}), done: make(chan struct{})}
	c.monitoring = m
	c.info.set(func(t *attributes) { t.monitors = true })
	c.emit(reply.OK())
	if c.flush() != nil { // lines come after it
		c.ending = true
	}
	go m.pump() // ends with stop, or with the monitor or the connection
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

// pump sends lines until it is stopped. A monitor that lags, or whose user loses the right,
// ends with its connection.
func (s *monitorSubscriber) pump() {
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

// end closes the connection, unless it has ended the monitor by itself.
func (s *monitorSubscriber) end() {
	select {
	case <-s.stop:
	default:
		s.c.kill()
	}
}

func (s *monitorSubscriber) permitted() (ok bool) {
	s.c.s.engine.Local(func(v *fsm.View) {
		_, refusal := v.Check(s.as, command.RESP, monitorWords)
		ok = refusal == nil
	})
	return ok
}
