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

func (b *loop) run() {
	defer close(b.ended)
	if err := b.loop.Run(); !b.s.closing() && b.s.HTTP.ErrorLog != nil {
		b.s.HTTP.ErrorLog.Printf("fastpath: the poller failed, connections get goroutines: %v", err)
	}
}

// stop detaches all connections.
func (b *loop) stop() {
	if b != nil {
		b.loop.Stop()
	}
}

// detachQuiet detaches the connections that have been quiet: a poller keeps no time limit, and reports nothing of a
// socket that this process has closed.
func (b *loop) detachQuiet() {
	tick := time.NewTicker(quietTime)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			b.loop.DetachIdle(func(k *conn) bool { return now.Sub(k.active) >= quietTime })
		case <-b.ended:
			return
		}
	}
}

// attach gives the connection to the loop, and reports whether the loop has accepted it.
func (k *conn) attach() bool {
	b := k.s.loop
	if k.rounds++; b == nil || k.rounds < k.enough || k.start < len(k.in) || k.s.closing() || k.state != nil && !k.state.HasLoggedIn() {
		return false
	}
	if k.tryRead == nil {
		k.tryRead, k.tryWrite = socket.TryRead(k.socket), socket.TryWrite(k.socket)
	}
	k.c.SetDeadline(time.Time{}) // reading would fail when one has passed
	k.deadline, k.sendBy, k.active, k.together = time.Time{}, time.Time{}, time.Now(), 0
	if !b.loop.Attach(k) {
		k.rounds, k.enough = 0, mostRounds
		return false
	}
	return true
}

// detached gives a goroutine of its own to a connection that the loop has detached.
func (k *conn) detached() {
	if k.rounds = 0; k.together < 8*attachAfter {
		k.enough = min(2*k.enough, mostRounds)
	} else {
		k.enough = attachAfter
	}
	go k.serve() // ends with the connection, or when it attaches again
}

// resume sends what the loop could not, and returns why the connection ends, if it does.
func (k *conn) resume() error {
	rest, err := k.unsent, k.failed
	if k.unsent = nil; len(rest) > 0 {
		if err := k.send(rest); err != nil {
			return err
		}
		k.trim()
	}
	return err
}

// Number, Socket, LoopState, Leaves and HasInput are for the event loop.
func (k *conn) Number() uint64 { return k.number }

// Socket returns the plain socket, if there is no more to the connection.
func (k *conn) Socket() net.Conn { return k.socket }

// LoopState returns the event loop's record.
func (k *conn) LoopState() *eventloop.State { return &k.loopState }

// Leaves reports whether the connection ends or its client reads slowly.
func (k *conn) Leaves() bool { return k.failed != nil || len(k.unsent) > 0 }

// HasInput reports whether input was read that has not been answered.
func (k *conn) HasInput() bool { return k.start < len(k.in) }

// serve reads the input of busy connections and starts batches for it.
func (b *loop) serve(list []*conn) {
	for len(list) > 0 {
		var open []*batch
		var silent []*conn
		for _, k := range list {
			switch k.gather() {
			case gatheredNothing:
				silent = append(silent, k)
			case gatheredOther:
				b.loop.Detach(k)
			case gatheredRequest:
				open = b.assign(open, k)
			}
		}
		for _, t := range open {
			go t.run() // ends when the batcher has answered
		}
		list = b.loop.Rearm(silent)
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
func (k *conn) gather() gathered {
	if k.start == len(k.in) {
		k.in, k.start = k.in[:0], 0
		n, err := k.tryRead(k.in[:cap(k.in)])
		k.in = k.in[:n]
		switch {
		case err != nil || n == cap(k.in): // there may be more, which is not reported again
			return gatheredOther
		case n == 0:
			return gatheredNothing
		}
	}
	length := bytes.Index(k.in[k.start:], []byte("\r\n\r\n")) + 4
	if length < 4 || length > k.s.MaxHead || k.s.closing() {
		return gatheredOther
	}
	end := k.start + length
	if !k.head.read(k.in[k.start:end], k.s.Plain) || k.head.length > maxTogether || k.head.length > len(k.in)-end {
		return gatheredOther
	}
	k.prepare(k.in[end : end+k.head.length])
	if k.prepared = k.s.Batcher.Prepare(&k.reply, &k.request); k.prepared == nil {
		return gatheredOther
	}
	k.end = end + k.head.length
	if k.state != nil {
		k.state.Busy()
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
func (b *loop) assign(open []*batch, k *conn) []*batch {
	size := k.end - k.start
	for i, t := range open {
		if !k.prepared.Joins(t.requests[0]) {
			continue
		}
		if len(t.conns) >= maxBatch || t.size+size > maxBatchSize {
			go t.run() // ends when the batcher has answered
			t = &batch{loop: b}
			open[i] = t
		}
		t.add(k, size)
		return open
	}
	t := &batch{loop: b}
	t.add(k, size)
	return append(open, t)
}

func (t *batch) add(k *conn, size int) {
	t.conns, t.requests, t.size = append(t.conns, k), append(t.requests, k.prepared), t.size+size
}

// run runs the batch, answers its connections, and serves those that have more input.
func (t *batch) run() {
	b := t.loop
	b.s.Batcher.Run(b.ctx, t.requests)
	now := time.Now()
	ready := t.conns[:0]
	for i, k := range t.conns {
		switch t.requests[i].Result() {
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
func (k *conn) answerSmall(now time.Time) {
	k.active = now
	k.together++
	out := k.replyPrepared()
	n, err := k.tryWrite(out)
	switch {
	case err != nil:
		k.failed = err
	case n < len(out):
		k.unsent = out[n:]
	default:
		k.trim()
	}
	if k.state != nil {
		k.state.Idle()
	}
}

// answerLarge answers the prepared request on a goroutine of the connection.
func (k *conn) answerLarge() {
	k.unsent = k.replyPrepared()
	if k.state != nil {
		k.state.Idle()
	}
	k.detached()
}

// replyPrepared returns the reply to the prepared request, as far as it is still to be sent.
func (k *conn) replyPrepared() (out []byte) {
	request := k.prepared
	k.prepared, k.start = nil, k.end
	if !k.run(request.Reply) {
		k.failed = net.ErrClosed
		return nil
	}
	out, k.failed = k.finish()
	return out
}
