package resp

import (
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// block runs a blocking command and waits until an element comes or its timeout passes. It returns
// false, without running it, if the call can't block: then it runs like any other command.
func (c *conn) block(row *command.Command, argv [][]byte) bool {
	ms, waits := row.Timeout(argv, time.Now().UnixMilli())
	if !waits || row.Wait == nil || !c.as.Known() {
		return false
	}
	c.runPipeline()
	if _, refusal := c.check(argv); refusal != nil {
		return false // the common path answers
	}
	c.noteCommand(row)
	c.trackReads(row, argv)
	if granted, beyond := c.takeQuota(1, false); granted == 0 {
		c.emit(beyond)
		return true
	}
	c.wait.bytes = memoryOf(argv, blockedMemory)
	if !c.admit(0) {
		c.wait.bytes = 0
		return true
	}
	c.s.metrics.commands.Inc()
	w := &waiter{as: c.as, db: c.database(), row: row, argv: copyWords(argv), keys: row.Sources(argv), done: make(chan reply.Value, 1), tracked: c.tracked}
	c.enterQueues(w)
	select {
	case v := <-w.done:
		c.unblock(w, v)
	default:
		c.wait.w, c.wait.ms = w, ms // serve goes on when it is answered
	}
	return true
}

// unblock answers the call of a connection that was blocked.
func (c *conn) unblock(w *waiter, v reply.Value) {
	c.wait = wait{loopState: c.wait.loopState}
	c.emit(v)
	c.countCalls([][][]byte{w.argv}, []reply.Value{v}, 0) // waiting time is not processing time
	c.monitorRows([][][]byte{w.argv}, []reply.Value{v})
	c.flushDone(true)
}

// enterQueues puts a call into the queues of its keys and checks whether there is an
// element for it. With none waiting before it the connection runs the call itself;
// otherwise the registry does in its order.
func (c *conn) enterQueues(w *waiter) {
	r := c.s.blocked
	first := r.enqueue(w)
	var found command.Arrival
	var call, before [][]byte
	_, err := c.s.engine.Read(c.s.life, fsm.Reading{}, func(v *fsm.View) { call, before, found = v.Arrive(w.as, command.RESP, w.row, w.argv) })
	if err != nil {
		call = w.argv
	}
	claimed := r.setCall(w, call, err == nil && found != command.Nothing && (first || found == command.Mistake))
	if err == nil && !claimed && before != nil {
		err = r.prepare(w, before)
	}
	switch {
	case err != nil:
		r.release(w, failureOf(err, false))
	case found == command.Nothing:
	case claimed:
		values, index, err := r.call(w, [][][]byte{w.argv})
		if err != nil {
			r.failAttempt(w, err)
			return
		}
		r.finishAttempt(w, values[0], nil, index)
	default:
		r.recheck(w)
	}
}

// prepare runs the call that has to precede a waiter's own call. If the call is refused, its reply ends the wait.
func (bc *blockedClients) prepare(w *waiter, before [][]byte) error {
	values, _, err := bc.call(w, [][][]byte{before})
	if err == nil && values[0].IsError() {
		bc.release(w, values[0])
	}
	return err
}

// errUnblocked is the answer to a call that CLIENT UNBLOCK ended.
var errUnblocked = reply.Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")

// await waits for the answer to the call of a connection that can't be parked: not beyond its timeout, nor the end of the
// connection or the server.
func (c *conn) await() reply.Value {
	w := c.wait.w
	ahead := c.readAhead()
	defer c.stopReading(ahead)
	select {
	case v := <-w.done:
		return v
	case <-c.s.stopping:
		c.ending = true
		c.holdReplies()
	case <-ahead.left:
		c.ending = true
	}
	c.s.blocked.release(w, reply.NilArray())
	return <-w.done
}

// ahead is a goroutine that reads while the connection is blocked, to notice that the
// client disconnects.
type ahead struct {
	left  chan struct{} // closed when the client has disconnected
	ended chan struct{} // closed when the goroutine has ended
}

// maxReadAhead bounds what is read from a blocked connection, in bytes.
const maxReadAhead = 1 << 20

// readAhead reads the client's input while its call is blocked, as long as the memory budgets allow it or the buffer has room.
// Until stopReading returns, only the new goroutine may use the input.
func (c *conn) readAhead() *ahead {
	a := &ahead{left: make(chan struct{}), ended: make(chan struct{})}
	go func() { // ends with stopReading, or with the connection
		defer close(a.ended)
		for c.mayReadAhead() {
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

// mayReadAhead reports whether a connection that is blocked may read on.
func (c *conn) mayReadAhead() bool {
	return len(c.in.rest()) < maxReadAhead && (c.charge(0) == nil || c.in.next(c.parser.Need()) <= cap(c.in.buf))
}

// stopReading ends the goroutine of readAhead. The connection's own goroutine may use the input again.
func (c *conn) stopReading(a *ahead) {
	// An error means that the connection is closed, which ends reading too.
	_ = c.info.deadline(c.nc, longAgo)
	<-a.ended
	_ = c.info.deadline(c.nc, time.Time{})
}

// clientUnblock ends the wait of another connection, as its timeout would or by an error.
func (c *conn) clientUnblock(argv [][]byte) {
	id, ok := command.ParseInt(argv[2])
	v := reply.NilArray()
	switch {
	case len(argv) > 4:
		c.emit(reply.Error("ERR unknown subcommand or wrong number of arguments for '" + oneLine(argv[1]) + "'. Try CLIENT HELP."))
		return
	case len(argv) == 4 && !command.EqualFold(argv[3], "TIMEOUT") && !command.EqualFold(argv[3], "ERROR"):
		c.emit(reply.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"))
		return
	case !ok:
		c.emit(reply.Error("ERR value is not an integer or out of range"))
		return
	case len(argv) == 4 && command.EqualFold(argv[3], "ERROR"):
		v = errUnblocked
	}
	unblocked := false
	if other := c.s.clients.find(c.database(), uint64(id)); other != nil {
		if w := other.info.blocked.Load(); w != nil {
			unblocked = c.s.blocked.release(w, v)
		}
	}
	if unblocked {
		c.emit(reply.Int(1))
		return
	}
	c.emit(reply.Int(0))
}
