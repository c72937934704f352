package resp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/internal/socket"
)

// intakes track how far the node has read the input of the connections that subscribe. Before
// subscribers are counted, settle waits until the node has processed everything that these
// connections had sent: a PUBLISH that a client sends after another client's UNSUBSCRIBE must not
// count that one, although different goroutines read the two. docs/design/pubsub.md has the argument.
type intakes struct {
	count    atomic.Int64
	timeouts prometheus.Counter // waits that timed out

	mu         sync.Mutex
	poller     *socket.Poller // reports connections with unread input; nil where the system has none
	ready      []uint64
	all        map[uint64]*intake
	busy       map[*intake]bool // those that process input
	progressed chan struct{}    // closed when one of them has progressed; nil without a waiter
}

// An intake records the reads of a connection that subscribes, as the socket.Marks of its socket. The lock of the
// intakes guards its fields.
type intake struct {
	c         *conn
	listed    atomic.Bool
	db        string
	reads     uint64 // attempts to read; the input of all but the last is processed
	suspended bool   // the connection waits for something that may take long, so settle skips it
	overdue   bool   // a wait for it has timed out; settle skips it until it has read everything
	ending    bool   // it was killed, and reads no more
}

func newIntakes(s *Server) *intakes {
	l := &intakes{timeouts: s.metrics.unsettled, all: map[uint64]*intake{}, busy: map[*intake]bool{}}
	poller, err := socket.NewPoller()
	switch {
	case err == nil:
		l.poller = poller
	case !errors.Is(err, errors.ErrUnsupported):
		s.log.Warn("resp: no poller, a PUBLISH may count subscribers whose UNSUBSCRIBE was not read yet", "error", err)
	}
	return l
}

// close releases the poller once no connection is left.
func (i *intakes) close() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.poller == nil {
		return nil
	}
	defer func() { i.poller = nil }()
	return i.poller.Close()
}

// add lists a connection, which is dealing with a command.
func (i *intakes) add(c *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	in := &c.intake
	if i.poller != nil && i.poller.AddLevel(c.tcp(), c.info.number) != nil {
		return // it is closed
	}
	in.db, in.reads, in.suspended, in.overdue, in.ending = c.database(), 0, false, false, c.info.killed.Load()
	in.listed.Store(true)
	i.all[c.info.number], i.busy[in] = in, true
	i.count.Add(1)
}

// remove takes a connection off the list: its subscriptions have ended.
func (i *intakes) remove(c *conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	in := &c.intake
	if !in.listed.Load() {
		return
	}
	in.listed.Store(false)
	if i.poller != nil {
		_ = i.poller.Remove(c.tcp()) // an error means that it is closed
	}
	delete(i.all, c.info.number)
	delete(i.busy, in)
	i.count.Add(-1)
	i.wakeWaiters()
}

// markKilled records that a connection was killed. It counts as busy until it is removed.
func (i *intakes) markKilled(c *conn) {
	in := &c.intake
	if !in.listed.Load() {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if in.listed.Load() {
		in.ending, i.busy[in] = true, true
	}
}

// wakeWaiters wakes all callers that wait in settle; the lock is held.
func (i *intakes) wakeWaiters() {
	if i.progressed != nil {
		close(i.progressed)
		i.progressed = nil
	}
}

// Begin records an attempt to read (socket.Marks).
func (in *intake) Begin() {
	if !in.listed.Load() {
		return
	}
	l := in.c.s.intakes
	l.mu.Lock()
	defer l.mu.Unlock()
	in.reads++
	l.busy[in] = true
	l.wakeWaiters()
}

// Wait records that a read found no input: everything that was sent is processed (socket.Marks).
func (in *intake) Wait() {
	if !in.listed.Load() {
		return
	}
	l := in.c.s.intakes
	l.mu.Lock()
	defer l.mu.Unlock()
	if in.overdue = false; !in.ending {
		delete(l.busy, in)
	}
	l.wakeWaiters()
}

// suspendIntake makes settle skip the connection until the returned function is called. A connection calls it before it
// waits for something that may take long, or that may itself depend on a settle.
func (c *conn) suspendIntake() (back func()) {
	if c.subscriber == nil {
		return func() {}
	}
	set := func(aside bool) {
		l := c.s.intakes
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.intake.suspended = aside; !aside && c.intake.listed.Load() {
			l.busy[&c.intake] = true // with what was read meanwhile
		}
		l.wakeWaiters()
	}
	set(true)
	return func() { set(false) }
}

// unsettled is a connection that settle waits for, and its progress when the wait began.
type unsettled struct {
	in     *intake
	reads  uint64 // intake.reads when the wait began
	unread bool   // the socket had unread input then
}

// settled reports whether the input that the connection had sent when the wait began is processed. Either
// the attempt to read that was under way then took it, or the next one. The lock is held.
func (u *unsettled) settled(l *intakes) bool {
	in := u.in
	switch {
	case !in.listed.Load() || in.suspended || in.overdue:
		return true
	case in.ending:
		return false
	case u.unread && in.reads < u.reads+2:
		return in.reads > u.reads && !l.busy[in]
	}
	return in.reads > u.reads
}

// settleTimeout bounds how long a PUBLISH waits for connections that subscribe.
const settleTimeout = time.Second

// settle waits until the subscribing connections of a database have processed everything that they had sent before
// the call, at most settleTimeout. It skips connections that wait themselves (suspendIntake) or that have timed out once.
func (i *intakes) settle(ctx context.Context, db string) {
	if i.count.Load() == 0 {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	waits := i.unsettled(db)
	if len(waits) == 0 {
		return
	}
	late := time.NewTimer(settleTimeout)
	defer late.Stop()
	for {
		left := waits[:0]
		for _, u := range waits {
			if !u.settled(i) {
				left = append(left, u)
			}
		}
		if waits = left; len(waits) == 0 {
			return
		}
		if i.progressed == nil {
			i.progressed = make(chan struct{})
		}
		progressed := i.progressed
		i.mu.Unlock()
		timedOut := false
		select {
		case <-progressed:
		case <-ctx.Done():
			timedOut = true
		case <-late.C:
			timedOut = true
		}
		i.mu.Lock()
		if timedOut {
			i.timeouts.Inc()
			for _, u := range waits {
				u.in.overdue = true
			}
			return
		}
	}
}

// unsettled returns the subscribing connections of a database that process input or have unread input. The lock is
// held, so no connection takes input meanwhile.
func (i *intakes) unsettled(db string) (waits []unsettled) {
	unread := map[*intake]bool{}
	if i.poller != nil {
		// An error means that the server has ended.
		i.ready, _ = i.poller.Ready(i.ready)
		for _, number := range i.ready {
			if in := i.all[number]; in != nil && in.db == db {
				unread[in] = true
			}
		}
	}
	for in := range unread { // unordered: all are waited for
		waits = append(waits, unsettled{in, in.reads, true})
	}
	for in := range i.busy { // unordered: all are waited for
		if in.db == db && !unread[in] {
			waits = append(waits, unsettled{in, in.reads, false})
		}
	}
	return waits
}
