package eventloop

import (
	"net"
	"sync"

	"github.com/trireme-dev/trireme/internal/socket"
)

// Conn is a connection as its server knows it.
type Conn interface {
	comparable
	// Number is the connection's own among those of its loop.
	Number() uint64
	// Socket is the plain socket. A connection that is more (TLS) can't be attached.
	Socket() net.Conn
	// LoopState is the loop's own record of the connection.
	LoopState() *State
	// Leaves reports whether a busy connection needs a goroutine; HasInput whether some of its input was read and not served.
	Leaves() bool
	HasInput() bool
}

// State is a loop's record of a connection. The zero value belongs to a connection that was never attached.
type State struct {
	busy    bool
	pending bool // the socket became readable while the connection was busy
	wanted  bool // Reclaim was called while the connection was busy
}

// Loop serves the connections that are attached to it. Its methods are safe for concurrent use.
type Loop[C Conn] struct {
	poller *socket.Poller
	serve  func([]C)
	giveUp func(C)
	done   chan struct{} // closed when Run has ended

	mu     sync.Mutex
	conns  map[uint64]C
	closed bool
}

// New makes a loop. serve gets the connections that have input, which are busy then; detached gets
// those that the loop gives back. The error is errors.ErrUnsupported where the system has no poller.
func New[C Conn](serve func([]C), detached func(C)) (*Loop[C], error) {
	poller, err := socket.NewPoller()
	if err != nil {
		return nil, err
	}
	return &Loop[C]{poller: poller, serve: serve, giveUp: detached, done: make(chan struct{}), conns: map[uint64]C{}}, nil
}

// Run serves attached connections until Stop or until the poller fails, then gives all of them
// back, the busy ones when they are rearmed.
func (l *Loop[C]) Run() error {
	defer close(l.done)
	var ready []uint64
	for {
		var err error
		if ready, err = l.poller.Wait(ready); err != nil {
			l.close()
			return err
		}
		l.serve(l.claim(ready))
	}
}

// Stop ends Run, which must have been started, and waits for it.
func (l *Loop[C]) Stop() {
	_ = l.poller.Close() // it can only be closed already
	<-l.done
}

// close gives all connections back.
func (l *Loop[C]) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.DetachIdle(func(C) bool { return true })
}

// Attach takes a connection over and reports whether it did: its goroutine must not touch it any more then.
func (l *Loop[C]) Attach(c C) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	*c.LoopState() = State{}
	if l.poller.Add(c.Socket(), c.Number()) != nil { // more than a socket, or closed
		return false
	}
	l.conns[c.Number()] = c
	return true
}

// Release removes a busy connection from the loop.
func (l *Loop[C]) Release(c C) {
	l.mu.Lock()
	delete(l.conns, c.Number())
	l.mu.Unlock()
	_ = l.poller.Remove(c.Socket()) // an error means that it is closed, which removes it too
}

// Detach gives a busy connection back.
func (l *Loop[C]) Detach(c C) {
	l.Release(c)
	l.giveUp(c)
}

// DetachIdle gives those idle connections back for which why is true. It is called under the loop's lock.
func (l *Loop[C]) DetachIdle(why func(C) bool) {
	var list []C
	l.mu.Lock()
	for _, c := range l.conns { // unordered: each is by itself
		if s := c.LoopState(); !s.busy && why(c) {
			s.busy = true
			list = append(list, c)
		}
	}
	l.mu.Unlock()
	for _, c := range list {
		l.Detach(c)
	}
}

// Reclaim gives a connection back: at once if it is idle, otherwise when it is rearmed. Code that closes a socket from outside calls
// it, because the poller reports nothing for a closed one.
func (l *Loop[C]) Reclaim(c C) {
	s := c.LoopState()
	l.mu.Lock()
	idle := l.conns[c.Number()] == c && !s.busy
	s.busy, s.wanted = s.busy || idle, true
	l.mu.Unlock()
	if idle {
		l.Detach(c)
	}
}

// claim makes the readable connections busy that are idle, and returns them.
func (l *Loop[C]) claim(ready []uint64) []C {
	list := make([]C, 0, len(ready))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, number := range ready {
		c, attached := l.conns[number]
		if !attached { // detached since
			continue
		}
		if s := c.LoopState(); s.busy {
			s.pending = true
		} else {
			s.busy = true
			list = append(list, c)
		}
	}
	return list
}

// Rearm makes busy connections idle again. It returns those with more input, which stay busy, and gives back those that leave.
func (l *Loop[C]) Rearm(list []C) (again []C) {
	var leaving []C
	l.mu.Lock()
	for _, c := range list {
		s := c.LoopState()
		switch {
		case l.closed || s.wanted || c.Leaves():
			leaving = append(leaving, c)
		case s.pending || c.HasInput():
			s.pending = false
			again = append(again, c)
		default:
			s.busy = false
		}
	}
	l.mu.Unlock()
	for _, c := range leaving {
		l.Detach(c)
	}
	return again
}

// Attached returns the number of attached connections.
func (l *Loop[C]) Attached() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}
