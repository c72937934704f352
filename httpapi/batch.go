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
	"github.com/trireme-dev/trireme/httpapi/redis"
)

// Single commands of different connections run together, as one request to the log or on one view, as
// the rows of a pipeline do: fastpath has the event loop that collects them. Whatever may have to wait
// for something else than that, or needs more than a command does, is not taken: it is answered by
// itself, from its beginning.

var _ fastpath.Batcher = (*Server)(nil)

// largeReply is the size from which a reply is encoded and sent by its connection alone, in bytes.
const largeReply = 32 << 10

// Prepare takes a request that is one simple command of a user who may do everything, or that publishes one message.
func (s *Server) Prepare(w http.ResponseWriter, r *http.Request) (taken fastpath.Request) {
	begin := time.Now()
	c := s.calls.Get().(*call)
	c.w, c.r = w, r
	defer func() {
		if p := recover(); p != nil { // the handler says so when it comes to it
			s.log.Error("preparing a request panicked", "panic", p, "stack", string(debug.Stack()))
		}
		if taken == nil {
			c.abandon()
		}
	}()
	if !c.batchable() {
		return nil
	}
	s.metrics.inFlight.Inc()
	c.began = begin
	return c
}

// abandon ends a call of which nothing was done.
func (c *call) abandon() {
	c.release()
	c.holding.End()
	c.recycle()
}

// batchable prepares the call as prepare does, if it may run together with others.
func (c *call) batchable() bool {
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
		return c.publishes()
	}
	if c.s.isRouted(c.path, inDatabase) || redis.IsStream(c.path) {
		return false
	}
	return c.identifyFree() && c.acquire() == nil && c.simpleCommand()
}

// identifyFree looks the token up as this node knows it. It is false if its user may not do
// everything, or may not do it as often as they like.
func (c *call) identifyFree() bool {
	c.scratch = appendCredential(c.scratch[:0], c.r, c.query)
	c.bearer = acl.ParseBearer(c.scratch)
	c.s.engine.Local(c.identifyFreeFn)
	return c.free && c.quota.Unlimited()
}

// identifyWithRights learns whom the token stands for, and whether they may do everything.
func (c *call) identifyWithRights(v *fsm.View) {
	c.identify(v)
	user := v.User(c.as)
	c.free = c.as.Known() && user != nil && user.Free()
}

// simpleCommand reads the arguments. It is false if they are anything but one simple command.
func (c *call) simpleCommand() bool {
	if c.words.Path(c.path) != nil {
		return false
	}
	argv := c.words.Argv()
	c.kind, c.mode = kindPath, fsm.Single
	switch {
	case len(argv) == 0:
		c.kind = kindBody
	case len(argv) == 1: // no path with a key, but maybe that of a batch
		return false
	}
	if c.options() != nil || c.reading.Mode != fsm.Linearizable || c.readBody() != nil || c.holdWords() != nil || c.arguments() != nil {
		return false
	}
	argv = c.rows[0]
	row := c.s.table.Find(argv)
	if row == nil || !row.Takes(len(argv)) || !row.Batchable() {
		return false
	}
	c.verdict.writes = !row.OnlyReads(argv)
	c.plain = true
	return c.verdict.writes || row.Flags&command.Write == 0
}

// Joins reports whether both calls are of one user, and both read or both write, or both publish in one database.
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
	switch first := batch[0].(*call); {
	case first.publishing != nil:
		publishTogether(ctx, batch)
	case first.verdict.writes:
		s.writeTogether(ctx, batch)
	default:
		s.readTogether(ctx, batch)
	}
}

// readTogether runs calls on one view.
func (s *Server) readTogether(ctx context.Context, batch []fastpath.Request) {
	first, revoked := batch[0].(*call), false
	at, err := s.engine.Read(ctx, fsm.Reading{Database: first.db}, func(v *fsm.View) { // may be run again, on another view
		if revoked = !v.Authorized(first.as); revoked {
			return
		}
		for _, one := range batch {
			c := one.(*call)
			c.values = c.values[:0]
			c.runRows(v)
		}
	})
	for _, one := range batch {
		c := one.(*call)
		c.at, c.failed, c.alone = at, err, err == nil && revoked
	}
}

// writeTogether puts calls into the log as one request.
func (s *Server) writeTogether(ctx context.Context, batch []fastpath.Request) {
	rows := make([][][]byte, len(batch))
	for i, one := range batch {
		c := one.(*call)
		rows[i], c.proposed = c.rows[0], true
	}
	b := fsm.Batch{As: batch[0].(*call).as, Origin: command.OriginHTTP, Mode: fsm.Pipeline, Rows: rows}
	if len(rows) == 1 {
		b.Mode = fsm.Single
	}
	results, err := fsm.Execute(ctx, s.engine, b)
	revoked := errors.Is(err, fsm.ErrRevoked) // then nothing was changed
	if err == nil && len(results.Values) != len(rows) {
		err = errMiscounted
	}
	for i, one := range batch {
		c := one.(*call)
		if c.failed, c.alone = err, revoked; err != nil {
			continue
		}
		c.results = results
		c.results.Values = results.Values[i : i+1]
		if c.replyBytes = replySize(results.Values[i]); len(rows) > 1 {
			c.row = i + 1
		}
	}
}

// errMiscounted says that the replies to a batch can't be told apart.
var errMiscounted = errors.New("httpapi: the number of replies differs from the number of commands")

// Result says how the call is answered.
func (c *call) Result() fastpath.Result {
	switch {
	case c.alone:
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
	if c.publishing != nil {
		c.answerPublishing()
		return
	}
	if c.verdict.writes {
		c.replyBytes = 0 // wrote counts it
		c.wrote(c.results, c.failed)
	} else {
		c.wasRead(c.at, c.failed)
	}
}
