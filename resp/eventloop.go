package resp

import (
	"errors"
	"net"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/internal/eventloop"
)

// eventLoop serves connections that send only simple commands, without a goroutine for
// each (package eventloop): it reads what has arrived, and puts the commands of all of them
// into batches. A batch is one request to the log, or reads on one view.
// docs/design/resp-event-loop.md has the reasons.
//
// Whatever is not simple (a command about the connection, a blocking one, a script, a large
// or incomplete one, a client that reads slowly, end of file, an error) detaches the
// connection: it gets a goroutine of its own, which finds buffers and parser as if it had
// always served it.
type eventLoop struct {
	s    *Server
	loop *eventloop.Loop[*conn] // nil where the system has no poller: then no connection attaches
}

// attachRounds is the number of consecutive rounds of simple commands after which a connection attaches.
const attachRounds = 4

// maxQuietBytes bounds such a round: a deep pipeline gains more from a goroutine.
const maxQuietBytes = 2 << 10

func newEventLoop(s *Server) *eventLoop {
	w := &eventLoop{s: s}
	loop, err := eventloop.New(w.serve, (*conn).detached)
	switch {
	case err == nil:
		w.loop = loop
	case !errors.Is(err, errors.ErrUnsupported):
		s.log.Warn("resp: no poller, each connection gets a goroutine", "error", err)
	}
	return w
}

// run serves attached connections until stop, then detaches them.
func (l *eventLoop) run() {
	if err := l.loop.Run(); !l.s.isStopping() {
		l.s.log.Error("resp: the poller failed, connections get goroutines", "error", err)
	}
}

// stop ends run.
func (l *eventLoop) stop() {
	if l.loop != nil {
		l.loop.Stop()
	}
}

// attach takes over a connection if it may be served in batches, and reports whether it
// did. Its goroutine must not touch it any more then.
func (l *eventLoop) attach(c *conn) bool {
	if l.loop == nil || c.quietRounds < attachRounds || !c.simple() || len(c.in.rest()) > 0 {
		return false
	}
	if !l.loop.Attach(c) {
		c.quietRounds = 0
		return false
	}
	return true
}

// detached starts a goroutine for a connection that the loop has detached.
func (c *conn) detached() {
	c.quietRounds = 0
	go c.serveToEnd() // ends with the connection, or when it joins again
}

// socketClosed is called when a connection was closed from outside: the poller reports
// nothing for it any more.
func (l *eventLoop) socketClosed(c *conn) {
	if l.loop != nil {
		l.loop.Reclaim(c)
	}
}

// Number, Socket, LoopState, Leaves and HasInput are for the event loop.
func (c *conn) Number() uint64 { return c.info.number }

// Socket returns the connection as it was accepted.
func (c *conn) Socket() net.Conn { return c.nc }

// LoopState returns the event loop's record of the connection.
func (c *conn) LoopState() *eventloop.State { return &c.loopState }

// Leaves reports whether the connection ends or its client reads slowly.
func (c *conn) Leaves() bool { return c.ending || c.out.waiting() > 0 }

// HasInput reports whether input was read that has not been served.
func (c *conn) HasInput() bool { return len(c.in.rest()) > 0 }

// serve reads the input of busy connections and starts batches for it.
func (l *eventLoop) serve(list []*conn) {
	for len(list) > 0 {
		l.refreshIdentities(list)
		var open []*pipelineBatch
		var silent []*conn
		for _, c := range list {
			switch c.gather() {
			case gatheredNothing:
				silent = append(silent, c)
			case gatheredOther:
				l.loop.Detach(c)
			case gatheredCommands:
				open = l.assign(open, c)
			}
		}
		for _, t := range open {
			go t.run() // ends when the engine has answered
		}
		list = l.loop.Rearm(silent)
	}
}

// refreshIdentities looks up the connections' users in this node's state. A connection
// whose user is gone is not simple.
func (l *eventLoop) refreshIdentities(list []*conn) {
	l.s.engine.Local(func(v *fsm.View) {
		for _, c := range list {
			before := c.as
			if c.refreshUser(v); !c.as.Known() {
				c.as, c.unrestricted = before, false
			}
		}
	})
}

// simple reports whether the connection's state allows serving it in batches.
func (c *conn) simple() bool {
	return c.unrestricted && c.as.Known() && c.quota.Unlimited() && !c.tx.open && !c.silent && !c.skipNext && c.subscriber == nil && c.monitoring == nil &&
		c.tracked == nil && !c.s.pauses.on(c.database()) && !c.s.isStopping() && !c.leaves() && c.out.waiting() == 0
}

// simple reports whether calls of a row may share a batch with those of other connections.
func (s *Server) simple(row *command.Command) bool { return row.Batchable() && s.own[row] == nil }
