package httpapi

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi/fastpath"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/redis"
)

// Simple commands, and messages published to a URL each, of different connections run together: the event loop in package fastpath
// collects them. They are read, judged, run and answered like every other request. A request that may have to wait, or needs more
// than this node's state, is left to its connection, which answers it from its beginning.

var _ fastpath.Batcher = (*Server)(nil)

// largeReply is the size from which a reply is encoded and sent by its connection alone, in bytes.
const largeReply = 32 << 10

// errNotTogether says that a request does not run together with others.
var errNotTogether = &failure{http.StatusInternalServerError, notApplied, "ERR this request runs alone"}

// Prepare reads and judges a request that runs together with others.
func (s *Server) Prepare(w http.ResponseWriter, r *http.Request) (taken fastpath.Request) {
	begin := time.Now()
	c := s.calls.Get().(*call)
	c.w, c.r, c.local = w, r, true
	defer func() {
		if p := recover(); p != nil { // the handler says so when it comes to it
			s.log.Error("preparing a request panicked", "panic", p, "stack", string(debug.Stack()))
		}
		if taken == nil {
			c.abandon()
		}
	}()
	if !c.prepareTogether() {
		return nil
	}
	s.metrics.inFlight.Inc()
	c.began = begin
	return c
}

// abandon ends a call for which nothing was done.
func (c *call) abandon() {
	c.release()
	c.holding.End()
	c.recycle()
}

// prepareTogether reads and judges the request. It returns false if the request does not run together with others.
func (c *call) prepareTogether() bool {
	h := c.r.Header
	if c.s.draining.Load() || c.r.Method != http.MethodGet && c.r.Method != http.MethodPost || len(h["Origin"]) > 0 || len(h["Authorization"]) != 1 ||
		c.s.loopback && !isLoopback(c.r.Host) {
		return false
	}
	for _, name := range c.s.names.retry {
		if _, given := h[name]; given {
			return false
		}
	}
	inDatabase := c.readTarget()
	if c.s.messages != nil && isMessages(c.path) {
		return c.preparePublishing()
	}
	c.plain = !c.s.isRouted(c.path, inDatabase) && c.prepare() == nil && c.reading.Mode == fsm.Linearizable && c.judgeSimple()
	return c.plain
}

// mayJoin reports whether a command may run together with others, as far as its token and its path tell.
func (c *call) mayJoin() bool {
	return c.free && c.quota.Unlimited() && (c.kind == kindPath || c.kind == kindBody) && !redis.IsStream(c.path)
}

// preparePublishing reads a request to publish one message. It returns false for any other request to the API of messages,
// and for one whose token this node doesn't know.
func (c *call) preparePublishing() bool {
	var access messages.Access
	c.kind = kindOps
	bearer := acl.ParseBearer(appendCredential(c.scratch[:0], c.r, ""))
	c.s.engine.Local(func(v *fsm.View) {
		access = accessOf(v, c.db, &bearer)
		c.quota, _ = v.Quota(access.DB)
	})
	if c.quota.Rate > 0 { // it is counted where its answer can say so
		return false
	}
	if c.r.ContentLength > c.s.maxBody || c.hold(c.r.ContentLength) != nil {
		return false
	}
	c.publishing = c.s.messages.PreparePublishing(c.w, c.r, c.target(), access)
	return c.publishing != nil
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

// errMiscounted says that the replies to a batch can't be told apart.
var errMiscounted = errors.New("httpapi: the number of replies differs from the number of commands")

// run runs a batch of judged calls: one of any sort, or several that join each other, as one request to the log or on one view.
// Afterwards each call has its results, has failed, or has the verdict that its token is revoked: then nothing was done.
func (s *Server) run(ctx context.Context, batch []fastpath.Request) {
	first := batch[0].(*call)
	if first.publishing != nil {
		publishTogether(ctx, batch)
		return
	}
	if !first.verdict.writes {
		s.read(ctx, batch)
		if first.failed != nil || first.verdict.revoked || !first.verdict.writes {
			return
		}
		// The state that was read permits a row that writes; this node's state did not when the call was judged.
	}
	s.write(ctx, batch)
}

// read runs calls on one view.
func (s *Server) read(ctx context.Context, batch []fastpath.Request) {
	first := batch[0].(*call)
	reading, view := first.reading, first.runFn
	reading.Long, reading.Database = len(first.rows) > fsm.ShortRead, first.db
	if len(batch) > 1 {
		view = func(v *fsm.View) { // may be run again, on another view
			revoked := !v.Authorized(first.as)
			for _, one := range batch {
				c := one.(*call)
				c.values = c.values[:0]
				if c.verdict.revoked = revoked; !revoked {
					c.runRows(v)
				}
			}
		}
	}
	at, err := s.engine.Read(ctx, reading, view)
	for _, one := range batch {
		c := one.(*call)
		c.at, c.failed = at, err
	}
}

// write puts calls into the log as one request.
func (s *Server) write(ctx context.Context, batch []fastpath.Request) {
	first := batch[0].(*call)
	b := fsm.Batch{As: first.as, Origin: command.OriginHTTP, Mode: first.mode, Rows: first.rows}
	if len(batch) > 1 {
		b.Mode, b.Rows = fsm.Pipeline, make([][][]byte, len(batch))
		for i, one := range batch {
			b.Rows[i] = one.(*call).rows[0]
		}
	}
	if f := first.setIdempotencyKey(&b); f != nil {
		first.failed = f
		return
	}
	for _, one := range batch {
		one.(*call).proposed = true
	}
	results, err := fsm.Execute(ctx, s.engine, b)
	revoked := errors.Is(err, fsm.ErrRevoked) // then nothing was changed
	switch {
	case revoked:
		err = nil
	case err == nil && len(batch) > 1 && len(results.Values) != len(batch):
		err = errMiscounted
	}
	for i, one := range batch {
		c := one.(*call)
		if c.failed, c.verdict.revoked = err, revoked; err != nil || revoked {
			continue
		}
		if c.results = results; len(batch) > 1 {
			c.results.Values, c.row = results.Values[i:i+1], i+1
		}
		c.replyBytes = 0
		for _, v := range c.results.Values {
			c.replyBytes += replySize(v)
		}
	}
}

func publishTogether(ctx context.Context, batch []fastpath.Request) {
	list := make([]*messages.Publishing, len(batch))
	for i, one := range batch {
		list[i] = one.(*call).publishing
	}
	messages.PublishTogether(ctx, list)
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
