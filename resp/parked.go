package resp

import (
	"errors"
	"net"
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/eventloop"
)

// wait is a blocked call of a connection, zero without one.
type wait struct {
	w         *waiter
	ms        int64 // the timeout, 0 for none
	bytes     int64 // of memory that the call is charged for
	begun     bool  // CLIENT LIST shows the connection as blocked
	left      bool  // the client has disconnected
	late      *time.Timer
	resume    func() // see suspendIntake
	loopState eventloop.State
}

// parkedClients watches the sockets of connections that are blocked. A parked connection has neither a goroutine nor a read
// buffer: the poller notices input and the end of the client, and whoever answers the call gives the connection a goroutine again.
// docs/design/blocking.md has the argument.
type parkedClients struct {
	loop *eventloop.Loop[parked] // nil where the system has no poller: then each blocked connection keeps a goroutine, and one that reads
}

// parked is a connection as the loop of parked ones sees it: input that was read waits until the call is answered.
type parked struct{ *conn }

// LoopState is the connection's record in this loop.
func (p parked) LoopState() *eventloop.State { return &p.wait.loopState }

// Leaves is false: only the answer ends the wait.
func (p parked) Leaves() bool { return false }

// HasInput is false: what was read is not served before the answer.
func (p parked) HasInput() bool { return false }

// Socket returns the connection as it was accepted.
func (p parked) Socket() net.Conn { return p.nc }

func newParkedClients(s *Server) *parkedClients {
	pc := &parkedClients{}
	loop, err := eventloop.New(pc.serve, func(p parked) { go p.serveToEnd() }) // ends with the connection, or when it parks again
	switch {
	case err == nil:
		pc.loop = loop
	case !errors.Is(err, errors.ErrUnsupported):
		s.log.Warn("resp: no poller, each blocked connection gets goroutines", "error", err)
	}
	return pc
}

// run watches parked connections until stop.
func (pc *parkedClients) run(s *Server) {
	if err := pc.loop.Run(); !s.isStopping() {
		s.log.Error("resp: the poller failed, blocked connections get goroutines", "error", err)
	}
}

// stop gives all parked connections their goroutines.
func (pc *parkedClients) stop() {
	if pc.loop != nil {
		pc.loop.Stop()
	}
}

// serve reads what clients send while they are blocked, and ends the waits of those that have disconnected.
func (pc *parkedClients) serve(list []parked) {
	for len(list) > 0 {
		for _, p := range list {
			p.readParked()
		}
		list = pc.loop.Rearm(list)
	}
}

// readParked reads what has arrived, as far as mayReadAhead allows.
func (c *conn) readParked() {
	for !c.wait.left && c.mayReadAhead() {
		n, full, err := c.in.readOnce(c.in.tryRead, c.parser.Need())
		switch {
		case interrupted(err): // the server stops
			return
		case err != nil:
			c.wait.left = true
			c.s.blocked.release(c.wait.w, reply.NilArray())
			return
		case !full:
			if n == 0 {
				c.in.drop()
			}
			return
		}
	}
}

// awaitAnswer waits until the call of a blocked connection is answered, or parks the connection: then the caller must not touch it
// any more.
func (c *conn) awaitAnswer() (isParked bool) {
	w := c.wait.w
	turn := c.s.blocked.unpark(w)
	select {
	case v := <-w.done:
		c.endWait(v)
		return false
	default:
	}
	c.beginWait()
	if c.park(turn) {
		return true
	}
	c.endWait(c.await())
	return false
}

// park has the loop watch a blocked connection, and reports whether it does. turn is that of unpark.
func (c *conn) park(turn uint64) bool {
	pc := c.s.parked
	if pc.loop == nil || c.wait.left || c.s.isStopping() {
		return false
	}
	w := c.wait.w
	c.releaseReplies()
	c.replies = nil
	c.in.drop()
	if !pc.loop.Attach(parked{c}) {
		return false
	}
	c.s.blocked.park(w, c, turn) // the connection may have its goroutine again by now
	return true
}

// beginWait shows the connection as blocked, and starts the timeout of its call.
func (c *conn) beginWait() {
	if c.wait.begun {
		return
	}
	w := c.wait.w
	c.wait.begun = true
	if c.subscriber != nil {
		c.wait.resume = c.suspendIntake()
	}
	c.info.sizes.words.Store(int64(lengthOf(w.argv)))
	c.info.blocked.Store(w)
	c.s.metrics.blocked.Inc()
	if c.wait.ms > 0 {
		blocked := c.s.blocked
		c.wait.late = time.AfterFunc(time.Duration(min(c.wait.ms, maxPause))*time.Millisecond, func() { blocked.release(w, reply.NilArray()) })
	}
}

// endWait takes the answer to the call of a blocked connection.
func (c *conn) endWait(v reply.Value) {
	if c.wait.begun {
		if c.wait.late != nil {
			c.wait.late.Stop()
		}
		c.info.blocked.Store(nil)
		c.s.metrics.blocked.Dec()
		c.info.sizes.words.Store(0)
		if c.wait.resume != nil {
			c.wait.resume()
		}
	}
	c.ending = c.ending || c.wait.left || c.info.killed.Load()
	c.unblock(c.wait.w, v)
}

// abandonWait ends the wait of a connection that ends. What its call has removed by then is lost.
func (c *conn) abandonWait() {
	if w := c.wait.w; w != nil {
		c.s.blocked.release(w, reply.NilArray())
		c.endWait(<-w.done)
	}
}

// drop lets the read buffer go if nothing is in it.
func (in *input) drop() {
	if len(in.rest()) > 0 {
		return
	}
	in.buf, in.at = nil, 0
	if in.sizes != nil {
		in.sizes.unread.Store(0)
		in.sizes.spare.Store(0)
	}
}
