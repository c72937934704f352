package resp

import (
	"errors"
	"sync"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/internal/socket"
)

// eventLoop serves connections that send only simple commands, without a goroutine for
// each: one goroutine polls their sockets, reads what has arrived, and puts the commands of
// all of them into batches. A batch is one request to the log, or reads on one view.
// docs/design/resp-event-loop.md has the reasons.
//
// An attached connection is idle or busy. An idle one has no owner and is claimed under mu;
// a busy one is owned by the goroutine that claimed it. Whatever is not simple (a command
// about the connection, a blocking one, a script, a large or incomplete one, a client that
// reads slowly, end of file, an error) detaches the connection: it gets a goroutine of its
// own, which finds buffers and parser as if it had always served it.
type eventLoop struct {
	s      *Server
	poller *socket.Poller // nil where the system has none: then no connection attaches
	done   chan struct{}  // closed when run has ended

	mu     sync.Mutex
	conns  map[uint64]*conn
	closed bool
}

// loopState is an attached connection's state, under the event loop's lock.
type loopState struct {
	busy    bool
	pending bool // the socket became readable while the connection was busy
	closed  bool // the socket was closed while the connection was busy
}

// attachRounds is how many rounds of simple commands a connection sends before it attaches.
const attachRounds = 4

// maxQuietBytes bounds such a round: a deep pipeline gains more from a goroutine.
const maxQuietBytes = 2 << 10

func newEventLoop(s *Server) *eventLoop {
	w := &eventLoop{s: s, done: make(chan struct{}), conns: map[uint64]*conn{}}
	watch, err := socket.NewPoller()
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			s.log.Warn("resp: no poller, each connection gets a goroutine", "error", err)
		}
		w.closed = true
		close(w.done)
		return w
	}
	w.poller = watch
	return w
}

// run serves attached connections until stop, then detaches them.
func (w *eventLoop) run() {
	defer close(w.done)
	var ready []uint64
	for {
		var err error
		if ready, err = w.poller.Wait(ready); err != nil {
			if !w.s.isStopping() {
				w.s.log.Error("resp: the poller failed, connections get goroutines", "error", err)
			}
			w.detachAll()
			return
		}
		w.serve(w.claim(ready))
	}
}

// stop ends run.
func (w *eventLoop) stop() {
	if w.poller != nil {
		_ = w.poller.Close() // it can only be closed already
	}
	<-w.done
}

// detachAll detaches all connections, the busy ones when they are rearmed.
func (w *eventLoop) detachAll() {
	w.mu.Lock()
	w.closed = true
	var idle []*conn
	for _, c := range w.conns { // unordered: each is by itself
		if !c.loopState.busy {
			c.loopState.busy = true
			idle = append(idle, c)
		}
	}
	w.mu.Unlock()
	for _, c := range idle {
		w.detach(c)
	}
}

// attach takes over a connection if it may be served in batches, and reports whether it
// did. Its goroutine must not touch it any more then.
func (w *eventLoop) attach(c *conn) bool {
	if c.quietRounds < attachRounds || !c.simple() || len(c.in.rest()) > 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	c.loopState = loopState{}
	if w.poller.Add(c.nc, c.info.id) != nil { // more than a socket, or closed
		c.quietRounds = 0
		return false
	}
	w.conns[c.info.id] = c
	return true
}

// detach gives a busy connection a goroutine of its own.
func (w *eventLoop) detach(c *conn) {
	w.release(c)
	go c.serveToEnd() // ends with the connection, or when it joins again
}

// socketClosed is called when a connection was closed from outside: the poller reports
// nothing for it any more.
func (w *eventLoop) socketClosed(c *conn) {
	w.mu.Lock()
	idle := w.conns[c.info.id] == c && !c.loopState.busy
	c.loopState.busy, c.loopState.closed = c.loopState.busy || idle, true
	w.mu.Unlock()
	if idle {
		w.detach(c)
	}
}

// release removes a busy connection from the event loop.
func (w *eventLoop) release(c *conn) {
	w.mu.Lock()
	delete(w.conns, c.info.id)
	w.mu.Unlock()
	_ = w.poller.Remove(c.nc) // an error means that it is closed, which removes it too
	c.quietRounds = 0
}

// claim makes the readable connections busy that are idle, and returns them.
func (w *eventLoop) claim(ready []uint64) []*conn {
	list := make([]*conn, 0, len(ready))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ready {
		c := w.conns[id]
		switch {
		case c == nil: // detached since
		case c.loopState.busy:
			c.loopState.pending = true
		default:
			c.loopState.busy = true
			list = append(list, c)
		}
	}
	return list
}

// rearm makes busy connections idle again. It returns those with more input, which stay
// busy.
func (w *eventLoop) rearm(list []*conn) (again []*conn) {
	var leaving []*conn
	w.mu.Lock()
	for _, c := range list {
		m := &c.loopState
		switch {
		case w.closed || m.closed || c.ending || c.out.waiting() > 0:
			leaving = append(leaving, c)
		case m.pending || len(c.in.rest()) > 0:
			m.pending = false
			again = append(again, c)
		default:
			m.busy = false
		}
	}
	w.mu.Unlock()
	for _, c := range leaving {
		w.detach(c)
	}
	return again
}

// serve reads the input of busy connections and starts batches for it.
func (w *eventLoop) serve(list []*conn) {
	for len(list) > 0 {
		w.refreshIdentities(list)
		var open []*batch
		var silent []*conn
		for _, c := range list {
			switch c.gather() {
			case gatheredNothing:
				silent = append(silent, c)
			case gatheredOther:
				w.detach(c)
			case gatheredCommands:
				open = w.assign(open, c)
			}
		}
		for _, t := range open {
			go t.run() // ends when the engine has answered
		}
		list = w.rearm(silent)
	}
}

// refreshIdentities looks up the connections' users in this node's state. A connection
// whose user is gone is not simple.
func (w *eventLoop) refreshIdentities(list []*conn) {
	w.s.engine.Local(func(v *fsm.View) {
		for _, c := range list {
			before := c.as
			if c.refreshUser(v); !c.as.Known() {
				c.as, c.free = before, false
			}
		}
	})
}

// simple reports whether the connection's state allows serving it in batches.
func (c *conn) simple() bool {
	return c.free && c.as.Known() && c.quota.Limit == 0 && !c.tx.open && !c.silent && !c.skipNext && c.subscriber == nil && c.monitoring == nil &&
		c.tracked == nil && !c.s.pauses.on(c.database()) && !c.s.isStopping() && !c.leaves() && c.out.waiting() == 0
}

// simple reports whether calls of a row may share a batch with those of other connections:
// it does not block, is fast if it reads, and is about keys only.
func (s *Server) simple(row *command.Command) bool {
	const excluded = command.Blocking | command.Admin
	return row.Keys.First > 0 && row.Flags&excluded == 0 && row.Flags&(command.Write|command.Fast) != 0 && row.Group != "scripting" && s.own[row] == nil
}
