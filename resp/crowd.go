package resp

import (
	"errors"
	"sync"

	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/socket"
)

// crowd serves the connections that send ordinary commands only, without a goroutine for
// each: one goroutine learns which of them have something, reads it, and puts the commands
// of all of them into one turn, which goes into the log as one request or is read on one
// view, and is answered from one place. docs/design/turns.md has the reasons.
//
// A member of the crowd is idle, which means that nobody may touch it but by claiming it
// under mu, or busy, which means that it belongs to whoever has claimed it. Whatever is not
// ordinary (a command of the connection's own, one that blocks, a script, a large or
// incomplete one, a client that reads slowly, an end, an error) makes the member depart:
// it gets a goroutine of its own, which finds everything as if it had always been there.
type crowd struct {
	s     *Server
	watch *socket.Watch // nil where there is none: then nobody joins
	done  chan struct{} // closed when run has ended

	mu      sync.Mutex
	members map[uint64]*conn
	closed  bool
}

// membership is what the crowd knows of a connection, under the crowd's lock.
type membership struct {
	busy bool
	more bool // something has come since the busy one was read
	gone bool // somebody has closed the busy one
}

// calmRounds is how many rounds of ordinary commands a connection sends before it joins.
const calmRounds = 4

// calmBytes is how much such a round has at most: a pipeline is worth a goroutine.
const calmBytes = 2 << 10

func newCrowd(s *Server) *crowd {
	w := &crowd{s: s, done: make(chan struct{}), members: map[uint64]*conn{}}
	watch, err := socket.NewWatch()
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			s.log.Warn("resp: each connection has a goroutine of its own", "error", err)
		}
		w.closed = true
		close(w.done)
		return w
	}
	w.watch = watch
	return w
}

// run serves members until stop, then lets all depart.
func (w *crowd) run() {
	defer close(w.done)
	var ready []uint64
	for {
		var err error
		if ready, err = w.watch.Wait(ready); err != nil {
			if !w.s.isStopping() {
				w.s.log.Error("resp: connections can't be watched together any more", "error", err)
			}
			w.disband()
			return
		}
		w.serve(w.claim(ready))
	}
}

// stop ends run.
func (w *crowd) stop() {
	if w.watch != nil {
		_ = w.watch.Close() // it can only be closed already
	}
	<-w.done
}

// disband lets all members depart, the busy ones when they are settled.
func (w *crowd) disband() {
	w.mu.Lock()
	w.closed = true
	var idle []*conn
	for _, c := range w.members { // unordered: each is by itself
		if !c.membership.busy {
			c.membership.busy = true
			idle = append(idle, c)
		}
	}
	w.mu.Unlock()
	for _, c := range idle {
		w.depart(c)
	}
}

// join takes a connection in if it may be served in turns. Its goroutine must not touch
// it any more then.
func (w *crowd) join(c *conn) bool {
	if c.calm < calmRounds || !c.ordinary() || len(c.in.rest()) > 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	c.membership = membership{}
	if w.watch.Add(c.nc, c.info.id) != nil { // more than a socket, or closed
		c.calm = 0
		return false
	}
	w.members[c.info.id] = c
	return true
}

// depart gives a busy member a goroutine of its own.
func (w *crowd) depart(c *conn) {
	w.mu.Lock()
	delete(w.members, c.info.id)
	w.mu.Unlock()
	_ = w.watch.Remove(c.nc) // an error means that it is closed, which removes it too
	c.calm = 0
	go c.live() // ends with the connection, or when it joins again
}

// lost is told of a connection that somebody has closed: nothing comes from it any more.
func (w *crowd) lost(c *conn) {
	w.mu.Lock()
	idle := w.members[c.info.id] == c && !c.membership.busy
	c.membership.busy, c.membership.gone = c.membership.busy || idle, true
	w.mu.Unlock()
	if idle {
		w.depart(c)
	}
}

// claim makes those idle members busy that have something.
func (w *crowd) claim(ready []uint64) []*conn {
	list := make([]*conn, 0, len(ready))
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ready {
		c := w.members[id]
		switch {
		case c == nil: // it has departed since
		case c.membership.busy:
			c.membership.more = true
		default:
			c.membership.busy = true
			list = append(list, c)
		}
	}
	return list
}

// settle makes busy members idle again. It gives those that have more, which stay busy.
func (w *crowd) settle(list []*conn) (again []*conn) {
	var leaving []*conn
	w.mu.Lock()
	for _, c := range list {
		m := &c.membership
		switch {
		case w.closed || m.gone || c.ending || c.out.waiting() > 0:
			leaving = append(leaving, c)
		case m.more || len(c.in.rest()) > 0:
			m.more = false
			again = append(again, c)
		default:
			m.busy = false
		}
	}
	w.mu.Unlock()
	for _, c := range leaving {
		w.depart(c)
	}
	return again
}

// serve reads what has come to busy members and has it run.
func (w *crowd) serve(list []*conn) {
	for len(list) > 0 {
		w.look(list)
		var open []*turn
		var silent []*conn
		for _, c := range list {
			switch c.gather() {
			case nothing:
				silent = append(silent, c)
			case odd:
				w.depart(c)
			case ordinary:
				open = w.put(open, c)
			}
		}
		for _, t := range open {
			go t.run() // ends when the engine has answered
		}
		list = w.settle(silent)
	}
}

// look learns whom members stand for now, by this node's state. Who is nobody any more
// is not ordinary.
func (w *crowd) look(list []*conn) {
	w.s.engine.Local(func(v *fsm.View) {
		for _, c := range list {
			before := c.as
			if c.look(v); !c.as.Known() {
				c.as, c.free = before, false
			}
		}
	})
}

// ordinary tells whether nothing but the connection's commands asks for a goroutine of
// its own.
func (c *conn) ordinary() bool {
	return c.free && c.as.Known() && c.quota.Limit == 0 && !c.tx.open && !c.silent && !c.skip && c.feed == nil && c.spy == nil &&
		c.tracked == nil && !c.s.pause.on.Load() && !c.s.isStopping() && c.out.waiting() == 0
}

// ordinary tells whether calls of a row can be run in turns with those of others: it waits
// for nothing, takes little time if it reads, and is about keys alone.
func (s *Server) ordinary(row *command.Command) bool {
	const odd = command.Blocking | command.Admin
	return row.Keys.First > 0 && row.Flags&odd == 0 && row.Flags&(command.Write|command.Fast) != 0 && row.Group != "scripting" && s.own[row] == nil
}
