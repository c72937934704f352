package httpapi

import (
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/httpapi/fastpath"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/redis"
	"github.com/trireme-dev/trireme/internal/buffered"
	"github.com/trireme-dev/trireme/node/tracing"
)

// call is one request while it is answered. Calls are pooled with their buffers, and their views are made once, so that a request
// costs few allocations.
type call struct {
	s *Server
	request
	rights
	response

	self [1]fastpath.Request // the call, as a batch of one
	// identifyFn, authorizeFn and runFn are the methods of those names, made once.
	identifyFn, authorizeFn, runFn func(*fsm.View)
}

// request holds what was read of a request: its target, database and arguments.
type request struct {
	w http.ResponseWriter
	r *http.Request
	// routing and routingURL form the request that the router sees for the API of messages.
	routing    http.Request
	routingURL url.URL

	kind  kind
	db    string // the one that the path names, empty for the default
	path  string // without the database and the first slash, not decoded
	query string // not decoded

	form    redis.Form
	reading fsm.Reading
	mode    fsm.Mode
	rows    [][][]byte
	single  [1][][]byte
	words   redis.Words
	body    []byte
	packed  *unpacker // the body, if it came in gzip
	// publishing is the message that the request publishes together with others; nil for any other request.
	publishing *messages.Publishing
}

// rights hold the user of a request and its limits of rate and memory.
type rights struct {
	bearer  acl.Bearer
	as      acl.Identity
	free    bool      // the user may do everything
	cluster uint32    // clusterTag of this cluster
	quota   fsm.Quota // of the database, as this node knows it
	verdict verdict
	// local refuses what this node's state refuses, without asking the others.
	local bool
	plain bool // every row is a command that never writes, or the table alone has judged it

	counted   bool // counted among the requests in flight of countedAs
	countedAs acl.Identity
	charged   int64 // what the rows have counted against the daily limit of chargedTo
	chargedTo fsm.Quota

	owner   string           // the database of the token, of a request to the API of messages whose path names none
	holding buffered.Holding // what the call has counted of the memory of all
}

// response holds the answer to a request and the outcomes of its rows.
type response struct {
	status   int
	id       string // for logs, made when needed
	sent     int    // bytes of the body
	proposed bool   // the engine was given a write
	answered bool

	began      time.Time     // running the rows
	took       time.Duration // running them
	place      tracing.Place // of the spans of this request
	results    fsm.Results   // of rows that write
	at         fsm.ReadAt    // of rows that read
	failed     error         // why the rows did not run
	row        int           // among those that were written together, from 1; 0 if there was no other
	values     []reply.Value
	replyBytes int64         // the size of the values
	beyond     []reply.Value // the replies to rows beyond the daily limit

	out     []byte
	scratch []byte
}

func newCall(s *Server) *call {
	c := &call{s: s}
	c.self[0] = c
	c.identifyFn, c.authorizeFn, c.runFn = c.identify, c.authorize, c.run
	return c
}

// maxKeptBuffer bounds the buffers that an idle call holds on to.
const maxKeptBuffer = 64 << 10

// recycle forgets the request and gives the call back to the pool.
func (c *call) recycle() {
	c.words.Reset()
	clear(c.values)
	if cap(c.values) > maxKeptBuffer/16 {
		c.values = nil
	}
	c.request = request{words: c.words, body: trim(c.body)}
	c.rights = rights{}
	c.response = response{values: c.values[:0], out: trim(c.out), scratch: trim(c.scratch)}
	c.s.calls.Put(c)
}

func trim(b []byte) []byte {
	if cap(b) > maxKeptBuffer {
		return nil
	}
	return b[:0]
}

var _ http.Handler = (*Server)(nil)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	s.metrics.inFlight.Inc()
	c := s.calls.Get().(*call)
	c.w, c.r = w, r
	if s.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	defer c.finish(begin)
	c.serve()
}

// finish counts and logs the request, and answers for a handler that panicked.
func (c *call) finish(begin time.Time) {
	p := recover()
	abort := p != nil && !c.panicked(p)
	c.release()
	c.packed.recycle()
	c.holding.End()
	took := time.Since(begin)
	m := c.s.metrics
	m.inFlight.Dec()
	m.count(c.kind, c.status, took, len(c.body), c.sent, len(c.rows))
	c.trace(begin, took)
	c.log(took)
	c.recycle()
	if abort {
		panic(http.ErrAbortHandler)
	}
}

// panicked logs a bug with its stack and, if nothing was sent yet, says what may have
// been done. A reply that was begun is broken off rather than completed wrongly: then it
// returns false.
func (c *call) panicked(p any) (answered bool) {
	if p == http.ErrAbortHandler {
		return false
	}
	c.s.log.Error("request panicked", "id", c.requestID(), "panic", p, "stack", string(debug.Stack()))
	if c.answered {
		return false
	}
	c.fail(failureOf(errPanic, c.proposed))
	return true
}

// log writes a line for a failure of the server, and at debug level for every request. Paths that are not commands log
// their failures themselves, and a node that isn't ready is asked all the time. It names the command but never its
// arguments, and not the query, which may hold a token.
func (c *call) log(took time.Duration) {
	level := slog.LevelDebug
	if c.status >= http.StatusInternalServerError && c.kind != kindOps {
		level = slog.LevelWarn
	}
	ctx := c.r.Context()
	if !c.s.log.Enabled(ctx, level) {
		return
	}
	command := ""
	if len(c.rows) == 1 && len(c.rows[0]) > 0 {
		if row := c.s.table.Find(c.rows[0]); row != nil {
			command = row.Name
		}
	}
	c.s.log.LogAttrs(ctx, level, "http request", append(c.traceIDs(), slog.String("id", c.requestID()), slog.String("method", c.r.Method),
		slog.String("kind", requestKinds[c.kind].label), slog.String("command", command), slog.Int("rows", len(c.rows)),
		slog.Int("status", c.status), slog.Duration("took", took), slog.String("from", c.r.RemoteAddr))...)
}

func (c *call) requestID() string {
	if c.id == "" {
		c.id = requestID(c.r)
	}
	return c.id
}

// fail answers with an error of the gateway's own: JSON in every form, so that clients
// can show it.
func (c *call) fail(f *failure) {
	if f.outcome == notApplied {
		c.uncharge()
	}
	h := c.w.Header()
	set(h, c.s.names.outcome, string(f.outcome))
	if f.status == http.StatusServiceUnavailable && f.outcome == notApplied {
		h["Retry-After"] = oneSecond
	}
	if f.status >= http.StatusInternalServerError {
		h[requestIDHeader] = []string{c.requestID()}
	}
	c.out = c.out[:0]
	if f.text != "" {
		c.out = redis.AppendError(c.out, f.text)
	}
	c.send(f.status, jsonType)
}

// selfSized is the most bytes of a body whose length net/http finds out by itself.
const selfSized = 2048

// send writes the reply that is in out.
func (c *call) send(status int, contentType []string) {
	if len(c.out) > streamAbove {
		c.sendLong(status, contentType)
		return
	}
	body := c.pack(c.out)
	c.sent = len(body)
	if len(body) >= selfSized {
		c.w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	if len(body) == 0 {
		contentType = nil
	}
	c.beginReply(status, contentType)
	// An error here means that the client has gone: it can't be told.
	_, _ = c.w.Write(body)
}

// sendLong writes the reply that is in out, without a second copy of it in memory if it is
// compressed.
func (c *call) sendLong(status int, contentType []string) {
	c.sent = len(c.out)
	c.w.Header()["Content-Length"] = []string{strconv.Itoa(len(c.out))}
	turn := c.s.encoders.writer(c.w)
	defer turn.close()
	c.w = turn
	out, end := c.packs()
	c.w = out
	c.beginReply(status, contentType)
	_, _ = c.w.Write(c.out)
	end()
}

// beginReply sets the status and the headers that every reply has.
func (c *call) beginReply(status int, contentType []string) {
	c.status, c.answered = status, true
	h := c.w.Header()
	if contentType != nil {
		h["Content-Type"] = contentType
	}
	if id := c.r.Header[requestIDHeader]; len(id) > 0 && h[requestIDHeader] == nil {
		if given := givenID(c.r); given != "" {
			h[requestIDHeader] = id[:1]
		}
	}
	if status != http.StatusOK {
		c.w.WriteHeader(status)
	}
}
