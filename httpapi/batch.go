package httpapi

import (
	"context"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/trireme-dev/trireme/httpapi/fastpath"
)

// Simple commands, and messages published to a URL each, of different connections run together: the event loop in package fastpath
// collects them. They are read, judged, run and answered like every other request. A request that may have to wait, or needs more
// than this node's state, is left to its connection, which answers it from its beginning.

var _ fastpath.Batcher = (*Server)(nil)

// largeReply is the size from which a reply is encoded and sent by its connection alone, in bytes.
const largeReply = 32 << 10

// abandon ends a call for which nothing was done.
func (c *call) abandon() {
	c.release()
	c.holding.End()
	c.recycle()
}

// Joins reports whether both calls belong to one user, and both read or both write, or both publish in one database.
func (c *call) Joins(other fastpath.Request) bool {
	o := other.(*call)
	if c.publishing != nil || o.publishing != nil {
		return c.publishing != nil && o.publishing != nil && c.publishing.Joins(o.publishing)
	}
	return c.as == o.as && c.db == o.db && c.verdict.writes == o.verdict.writes
}

// Run runs calls together.
func (s *Server) Run(ctx context.Context, batch []fastpath.Request) {
	began := time.Now()
	for _, one := range batch {
		one.(*call).began = began
	}
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("a batch of requests panicked", "panic", p, "stack", string(debug.Stack()))
			for _, one := range batch {
				one.(*call).failed = errPanic
			}
		}
	}()
	s.run(ctx, batch)
}

// Result says how the call is answered.
func (c *call) Result() fastpath.Result {
	switch {
	case c.verdict.revoked:
		c.s.metrics.inFlight.Dec()
		c.abandon()
		return fastpath.Alone
	case c.replyBytes >= largeReply:
		return fastpath.Large
	}
	return fastpath.Small
}

// Reply answers the call.
func (c *call) Reply() {
	defer c.finish(c.began)
	c.answerRun()
}

// answerPublishing answers a call that was published with others.
func (c *call) answerPublishing() {
	if c.failed != nil { // it panicked
		c.publishing.Failed(c.failed)
	}
	out, end := c.packs()
	w := &recorder{ResponseWriter: out, c: c, status: http.StatusOK}
	c.answered = true
	c.publishing.Reply(w)
	end()
	c.status, c.sent = w.status, w.sent
}

// answerRun answers what was run.
func (c *call) answerRun() {
	switch {
	case c.publishing != nil:
		c.answerPublishing()
	case c.verdict.writes:
		c.answerWritten()
	default:
		c.answerRead()
	}
}
