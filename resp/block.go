package resp

import (
	"time"

	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/fsm/reply"
)

// block runs a blocking command, and waits if there is nothing for it. It is false if the
// command does not wait: then it runs like any other.
func (c *conn) block(row *command.Command, argv [][]byte) bool {
	ms, waits := row.Timeout(argv, time.Now().UnixMilli())
	if !waits || row.Wait == nil || !c.as.Known() {
		return false
	}
	c.finish()
	if _, refusal := c.check(argv); refusal != nil {
		return false // it is told in the common way
	}
	c.note(row)
	c.reads(row, argv)
	if granted, beyond := c.take(1, false); granted == 0 {
		c.emit(beyond)
		return true
	}
	c.s.metrics.commands.Inc()
	w := &waiter{as: c.as, db: c.database(), row: row, argv: copyWords(argv), keys: row.Sources(argv), done: make(chan reply.Value, 1)}
	c.arrive(w)
	v := c.await(w, ms)
	c.emit(v)
	c.report([][][]byte{w.argv}, []reply.Value{v}, 0) // waiting is not work
	c.showRows([][][]byte{w.argv}, []reply.Value{v})
	return true
}

// arrive puts a call into the queues of its keys and looks whether there is something for
// it. If nobody waits before it the connection runs it by itself; otherwise its turn comes.
func (c *conn) arrive(w *waiter) {
	r := c.s.room
	first := r.enter(w)
	var found command.Arrival
	call := w.argv
	_, err := c.s.engine.Read(c.s.life, fsm.Reading{}, func(v *fsm.View) { call, found = v.Arrive(w.as, command.RESP, w.row, call) })
	r.means(w, call)
	switch {
	case err != nil:
		r.release(w, failureOf(err, false))
	case found == command.Nothing:
	case (first || found == command.Mistake) && r.claim(w):
		values, err := r.call(w, [][][]byte{w.argv})
		if err != nil {
			r.failed(w, err)
			return
		}
		r.settle(w, values[0], true)
	default:
		r.look(w)
	}
}

// errUnblocked is the answer to a call whose wait somebody else ended.
var errUnblocked = reply.Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")

// await waits for the call's answer: at most ms milliseconds if that is not 0, and not
// beyond the end of the connection or the server.
func (c *conn) await(w *waiter, ms int64) reply.Value {
	select {
	case v := <-w.done:
		return v
	default:
	}
	if c.flush() != nil {
		c.ending = true
		c.s.room.release(w, reply.NilArray())
		return <-w.done
	}
	c.info.blocked.Store(w)
	c.s.metrics.blocked.Inc()
	defer c.s.metrics.blocked.Dec()
	defer c.info.blocked.Store(nil)
	ahead := c.readAhead()
	defer c.stopReading(ahead)
	var late <-chan time.Time
	if ms > 0 {
		timer := time.NewTimer(time.Duration(min(ms, maxPause)) * time.Millisecond)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case v := <-w.done:
		return v
	case <-late:
	case <-c.s.stopping:
		c.ending = true
	case <-ahead.left:
		c.ending = true
	}
	c.s.room.release(w, reply.NilArray())
	return <-w.done
}

// ahead is a goroutine that reads what a client sends while its call waits, to learn when
// it leaves.
type ahead struct {
	left  chan struct{} // closes when the client has left
	ended chan struct{} // closes when nothing is read any more
}

// mostReadAhead is how much is read from a connection that waits.
const mostReadAhead = 1 << 20

func (c *conn) readAhead() *ahead {
	a := &ahead{left: make(chan struct{}), ended: make(chan struct{})}
	go func() { // ends with stopReading, or with the connection
		defer close(a.ended)
		for len(c.in.rest()) < mostReadAhead {
			if err := c.in.fill(c.parser.Need()); interrupted(err) {
				return
			} else if err != nil {
				close(a.left)
				return
			}
		}
	}()
	return a
}

// stopReading gives the connection's own goroutine its buffer back.
func (c *conn) stopReading(a *ahead) {
	// An error means that the connection is closed, which ends reading too.
	_ = c.info.deadline(c.nc, past)
	<-a.ended
	_ = c.info.deadline(c.nc, time.Time{})
}

// clientUnblock ends the wait of another connection, as its timeout would or by an error.
func (c *conn) clientUnblock(argv [][]byte) {
	id, ok := command.ParseInt(argv[2])
	v := reply.NilArray()
	switch {
	case len(argv) > 4 || (len(argv) == 4 && !command.EqualFold(argv[3], "TIMEOUT") && !command.EqualFold(argv[3], "ERROR")):
		c.emit(reply.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"))
		return
	case !ok:
		c.emit(reply.Error("ERR value is not an integer or out of range"))
		return
	case len(argv) == 4 && command.EqualFold(argv[3], "ERROR"):
		v = errUnblocked
	}
	unblocked := false
	if other := c.s.clients.find(uint64(id)); other != nil && c.sees(other) {
		if w := other.info.blocked.Load(); w != nil {
			unblocked = c.s.room.release(w, v)
		}
	}
	if unblocked {
		c.emit(reply.Int(1))
		return
	}
	c.emit(reply.Int(0))
}
