package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi/fastpath"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/redis"
)

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

// readTarget parses the request's target: the database that the path names, the rest of the path, as it would be at the root, and
// the query.
func (c *call) readTarget() (inDatabase bool) {
	c.path, c.query = redis.CutTarget(c.r.RequestURI)
	rest, cut := strings.CutPrefix(c.path, "db/")
	name, rest, _ := strings.Cut(rest, "/")
	if !cut || !fsm.ValidDatabaseName(name) {
		return false
	}
	c.db, c.path = name, rest
	return true
}

// prepare does everything that comes before a command exists: the token, the headers,
// the arguments.
func (c *call) prepare() *failure {
	if f := c.authenticate(); f != nil {
		return f
	}
	if f := c.acquire(); f != nil {
		return f
	}
	if err := c.words.Path(c.path); err != nil {
		return badRequest(err.Error())
	}
	argv := c.words.Argv()
	c.kind, c.mode = kindPath, fsm.Single
	switch {
	case len(argv) == 0:
		c.kind = kindBody
	case redis.IsStream(c.path):
		c.kind = kindStream
	case len(argv) == 1 && string(argv[0]) == "pipeline":
		c.kind, c.mode = kindPipeline, fsm.Pipeline
	case len(argv) == 1 && string(argv[0]) == "multi-exec":
		c.kind, c.mode = kindTransaction, fsm.Transaction
	}
	if c.local && !c.mayJoin() {
		return errNotTogether
	}
	if f := c.options(); f != nil {
		return f
	}
	if f := c.readBody(); f != nil {
		return f
	}
	if c.kind == kindStream {
		return nil // body and query say nothing there
	}
	if f := c.holdWords(); f != nil {
		return f
	}
	if err := c.arguments(); err != nil {
		return badRequest(err.Error())
	}
	return nil
}

// wordBytes is the memory of a word in addition to its bytes, which are the body's.
const wordBytes = 24

// holdWords reserves memory for the words of a large body before they are made.
func (c *call) holdWords() *failure {
	if len(c.body) < bodyStep || c.kind == kindPath {
		return nil
	}
	return c.hold(wordBytes * int64(min(bytes.Count(c.body, []byte{','}), redis.MaxWords)))
}

// arguments makes the rows from the path, the body and the query.
func (c *call) arguments() error {
	var err error
	switch c.kind {
	case kindPipeline, kindTransaction:
		c.words.Reset() // the endpoint's name
		err = c.words.Batch(c.body, c.s.maxRows)
		c.rows = c.words.Rows()
		return err
	case kindBody:
		err = c.words.Command(c.body)
	default:
		if len(c.body) > 0 {
			c.words.Append(c.body)
		}
		err = c.words.Query(c.query)
	}
	c.single[0] = c.words.Argv()
	c.rows = c.single[:]
	return err
}

// judgeSimple judges a call that is one simple command of a user who may do everything: one on keys that does not wait, and is quick
// if it reads. It returns false for any other.
func (c *call) judgeSimple() bool {
	if !c.free || c.kind != kindPath && c.kind != kindBody {
		return false
	}
	argv := c.rows[0]
	row := c.s.table.Find(argv)
	if row == nil || !row.Takes(len(argv)) || !row.Batchable() {
		return false
	}
	c.verdict.writes = !row.OnlyReads(argv)
	return c.verdict.writes || row.Flags&command.Write == 0
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
