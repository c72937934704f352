package fastpath

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/trireme-dev/trireme/internal/eventloop"
	"github.com/trireme-dev/trireme/internal/socket"
)

// Batcher runs simple requests of several connections together.
type Batcher interface {
	// Prepare reads a request that may run together with others, without waiting for anything. It returns nil for one
	// that may not, with which nothing was done then. What Reply writes goes to w.
	Prepare(w http.ResponseWriter, r *http.Request) Request
	// Run runs prepared requests, each of which joins the first. It returns when every one has its Result.
	Run(ctx context.Context, batch []Request)
}

// Request is a request that was prepared.
type Request interface {
	// Joins reports whether the request may be in a batch with another one.
	Joins(Request) bool
	// Result says after Run how the request is to be answered. If it is Alone, the request is over.
	Result() Result
	// Reply writes the reply, after which the request is over.
	Reply()
}

// Result says how a request of a batch is to be answered.
type Result uint8

const (
	// Small requests have a small reply.
	Small Result = iota
	// Large requests have a reply that the client may take long to read.
	Large
	// Alone requests were not run: the handler answers them.
	Alone
)

// The bounds of a batch, which is one request to the log or one view.
const (
	maxBatch     = 200
	maxBatchSize = 256 << 10
	// maxTogether is the largest body of a request that is run together with others, in bytes.
	maxTogether = 8 << 10
)

const (
	// attachAfter is the number of requests that a connection's goroutine answers before the connection attaches. The
	// number doubles, up to mostRounds, each time that the loop was of little use to it.
	attachAfter = 4
	mostRounds  = 4096
	// quietTime is the time without a request after which an attached connection gets a goroutine, which keeps the time
	// limits.
	quietTime = 30 * time.Second
)

// loop serves connections that send only simple requests, without a goroutine for each (package
// eventloop). It reads the requests that have arrived and puts those of all connections into
// batches. Whatever is not simple (a long or incomplete request, one that the batcher doesn't take,
// a client that reads slowly, end of file, an error) detaches the connection: it gets a goroutine,
// which finds the buffers as if it had always served it.
type loop struct {
	s     *Server
	ctx   context.Context
	loop  *eventloop.Loop[*conn]
	ended chan struct{}
}

// newLoop starts the loop; nil if there is nothing for it to do.
func newLoop(ctx context.Context, s *Server) *loop {
	if s.Batcher == nil {
		return nil
	}
	b := &loop{s: s, ctx: ctx, ended: make(chan struct{})}
	var err error
	if b.loop, err = eventloop.New(b.serve, (*conn).detached); err != nil {
		if !errors.Is(err, errors.ErrUnsupported) && s.HTTP.ErrorLog != nil {
			s.HTTP.ErrorLog.Printf("fastpath: no poller, each connection gets a goroutine: %v", err)
		}
		return nil
	}
	go b.run()         // ends with stop
	go b.detachQuiet() // the same
	return b
}

func (l *loop) run() {
	defer close(l.ended)
	if err := l.loop.Run(); !l.s.closing() && l.s.HTTP.ErrorLog != nil {
		l.s.HTTP.ErrorLog.Printf("fastpath: the poller failed, connections get goroutines: %v", err)
	}
}

// stop detaches all connections.
func (l *loop) stop() {
	if l != nil {
		l.loop.Stop()
	}
}

// detachQuiet detaches the connections that have been quiet: a poller keeps no time limit, and reports nothing of a
// socket that this process has closed.
func (l *loop) detachQuiet() {
	tick := time.NewTicker(quietTime)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			l.loop.DetachIdle(func(k *conn) bool { return now.Sub(k.active) >= quietTime })
		case <-l.ended:
			return
		}
	}
}

// attach gives the connection to the loop, and reports whether the loop has accepted it.
func (co *conn) attach() bool {
	b := co.s.loop
	if co.rounds++; b == nil || co.rounds < co.enough || co.start < len(co.in) || co.s.closing() || co.state != nil && !co.state.HasLoggedIn() {
		return false
	}
	if co.tryRead == nil {
		co.tryRead, co.tryWrite = socket.TryRead(co.socket), socket.TryWrite(co.socket)
	}
	co.c.SetDeadline(time.Time{}) // reading would fail when one has passed
	co.deadline, co.sendBy, co.active, co.together = time.Time{}, time.Time{}, time.Now(), 0
	if !b.loop.Attach(co) {
		co.rounds, co.enough = 0, mostRounds
		return false
	}
	return true
}

// detached gives a goroutine of its own to a connection that the loop has detached.
func (co *conn) detached() {
	if co.rounds = 0; co.together < 8*attachAfter {
		co.enough = min(2*co.enough, mostRounds)
	} else {
		co.enough = attachAfter
	}
	go co.serve() // ends with the connection, or when it attaches again
}

// resume sends what the loop could not, and returns why the connection ends, if it does.
func (co *conn) resume() error {
	rest, err := co.unsent, co.failed
	if co.unsent = nil; len(rest) > 0 {
		if err := co.send(rest); err != nil {
			return err
		}
		co.trim()
	}
	return err
}

// Number, Socket, LoopState, Leaves and HasInput are for the event loop.
func (co *conn) Number() uint64 { return co.number }

// Socket returns the plain socket, if there is no more to the connection.
func (co *conn) Socket() net.Conn { return co.socket }

// LoopState returns the event loop's record.
func (co *conn) LoopState() *eventloop.State { return &co.loopState }

// Leaves reports whether the connection ends or its client reads slowly.
func (co *conn) Leaves() bool { return co.failed != nil || len(co.unsent) > 0 }

// HasInput reports whether input was read that has not been answered.
func (co *conn) HasInput() bool { return co.start < len(co.in) }

// serve reads the input of busy connections and starts batches for it.
func (l *loop) serve(list []*conn) {
	for len(list) > 0 {
		var open []*batch
		var silent []*conn
		for _, k := range list {
			switch k.gather() {
			case gatheredNothing:
				silent = append(silent, k)
			case gatheredOther:
				l.loop.Detach(k)
			case gatheredRequest:
				open = l.assign(open, k)
			}
		}
		for _, t := range open {
			go t.run() // ends when the batcher has answered
		}
		list = l.loop.Rearm(silent)
	}
}

// gathered says what has arrived on a connection.
type gathered uint8

const (
	gatheredNothing gathered = iota
	gatheredRequest          // a simple one, prepared
	gatheredOther            // something that needs a goroutine
)

// gather reads once, unless input is left, and prepares the first request. in stays as it is until
// the request is answered.
func (co *conn) gather() gathered {
	if co.start == len(co.in) {
		co.in, co.start = co.in[:0], 0
		n, err := co.tryRead(co.in[:cap(co.in)])
		co.in = co.in[:n]
		switch {
		case err != nil || n == cap(co.in): // there may be more, which is not reported again
			return gatheredOther
		case n == 0:
			return gatheredNothing
		}
	}
	length := bytes.Index(co.in[co.start:], []byte("\r\n\r\n")) + 4
	if length < 4 || length > co.s.MaxHead || co.s.closing() {
		return gatheredOther
	}
	end := co.start + length
	if !co.head.read(co.in[co.start:end], co.s.Plain) || co.head.length > maxTogether || co.head.length > len(co.in)-end {
		return gatheredOther
	}
	co.prepare(co.in[end : end+co.head.length])
	if co.prepared = co.s.Batcher.Prepare(&co.reply, &co.request); co.prepared == nil {
		return gatheredOther
	}
	co.end = end + co.head.length
	if co.state != nil {
		co.state.Busy()
	}
	return gatheredRequest
}

// batch is requests of attached connections that run together.
type batch struct {
	loop     *loop
	conns    []*conn
	requests []Request
	size     int
}

// assign adds a connection's request to an open batch or to a new one, and starts one that is full.
func (l *loop) assign(open []*batch, k *conn) []*batch {
	size := k.end - k.start
	for i, t := range open {
		if !k.prepared.Joins(t.requests[0]) {
			continue
		}
		if len(t.conns) >= maxBatch || t.size+size > maxBatchSize {
			go t.run() // ends when the batcher has answered
			t = &batch{loop: l}
			open[i] = t
		}
		t.add(k, size)
		return open
	}
	t := &batch{loop: l}
	t.add(k, size)
	return append(open, t)
}

func (ba *batch) add(k *conn, size int) {
	ba.conns, ba.requests, ba.size = append(ba.conns, k), append(ba.requests, k.prepared), ba.size+size
}

// run runs the batch, answers its connections, and serves those that have more input.
func (ba *batch) run() {
	b := ba.loop
	b.s.Batcher.Run(b.ctx, ba.requests)
	now := time.Now()
	ready := ba.conns[:0]
	for i, k := range ba.conns {
		switch ba.requests[i].Result() {
		case Alone: // its goroutine finds the request unread
			k.prepared = nil
			b.loop.Detach(k)
		case Large:
			b.loop.Release(k)
			go k.answerLarge() // ends with the connection, or when it attaches again
		default:
			k.answerSmall(now)
			ready = append(ready, k)
		}
	}
	b.serve(b.loop.Rearm(ready))
}

// answerSmall answers the prepared request without waiting for the client.
func (co *conn) answerSmall(now time.Time) {
	co.active = now
	co.together++
	out := co.replyPrepared()
	n, err := co.tryWrite(out)
	switch {
	case err != nil:
		co.failed = err
	case n < len(out):
		co.unsent = out[n:]
	default:
		co.trim()
	}
	if co.state != nil {
		co.state.Idle()
	}
}

// answerLarge answers the prepared request on a goroutine of the connection.
func (co *conn) answerLarge() {
	co.unsent = co.replyPrepared()
	if co.state != nil {
		co.state.Idle()
	}
	co.detached()
}

// replyPrepared returns the reply to the prepared request, as far as it is still to be sent.
func (co *conn) replyPrepared() (out []byte) {
	request := co.prepared
	co.prepared, co.start = nil, co.end
	if !co.run(request.Reply) {
		co.failed = net.ErrClosed
		return nil
	}
	out, co.failed = co.finish()
	return out
}
