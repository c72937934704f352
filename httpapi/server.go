package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/httpapi/console"
	"github.com/trireme-dev/trireme/httpapi/fastpath"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/redis"
	"github.com/trireme-dev/trireme/internal/buffered"
	"github.com/trireme-dev/trireme/internal/connlimit"
	"github.com/trireme-dev/trireme/node/audit"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/node/quota"
	"github.com/trireme-dev/trireme/node/samples"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/node/tracing"
)

// Engine is the node as the edge needs it: the log, reads, and the node's health.
//
// Propose and Read are bounded by the engine's own deadline, so that the edge needs no timer for each request; their
// context ends when the client goes away.
type Engine interface {
	fsm.Proposer
	fsm.Reader
	// Local runs fn once on the state of this node as it is, however old, and asks
	// nobody. It serves early answers that are confirmed or checked again later.
	Local(fn func(*fsm.View))
	// Ready returns nil if this node has a leader and has caught up with it; otherwise the error says what is missing.
	Ready() error
	// Accepting returns nil if this node's disk has room for writes; otherwise the error says how much is missing. Such
	// a node still answers reads.
	Accepting() error
	// SlowDiskSince returns since when this node's disk has been slow, the zero time if it is not.
	SlowDiskSince() time.Time
	// TimeDifference returns by how much cluster time is ahead of the wall clocks of a majority, negative if it is behind, and
	// for how long it has differed by more than a second; 0 and 0 if it does not.
	TimeDifference() (ahead, lasts time.Duration)
}

// The limits that apply where Options names none.
const (
	// DefaultMaxRequestSize is the body limit in bytes that existing clients expect.
	DefaultMaxRequestSize = 10 << 20
	// LargestRequestSize is the most that --max-request-size may be: a larger request
	// could not be a log entry.
	LargestRequestSize = 48 << 20
	// DefaultMaxRows is the most commands in a pipeline or transaction. Clients that
	// gather calls by themselves send up to 1,000.
	DefaultMaxRows = 10_000
)

// Options are the parts and the limits of a Server.
type Options struct {
	// Engine is required.
	Engine Engine
	// Admin serves the requests of /admin to the process; without one those paths answer 404.
	Admin Admin
	// Meter counts commands against the daily limits; origins of one node share it. The
	// default is one of the server's own.
	Meter *quota.Meter
	// Hub brings messages and executed commands to streams; without one their paths
	// answer 404. Its owner closes it, after Shutdown.
	Hub *pubsub.Hub
	// Messages, if set, reads requests to the API of messages under /v2; without it those
	// paths answer 404.
	Messages *messages.Parser
	// Console, if set, is the console; the server sets its Engine, API, Audit and Log. A console apart is not served with the
	// API: Server.Console serves it on a listener of its own.
	Console *console.Options
	// Clients are the connections of the RESP listener, for /admin/clients; nil if there is none.
	Clients Clients
	// History, if set, is answered at /admin/history.
	History *samples.History
	// Providers asks API destinations at once, for /llm; nil if there are none.
	Providers messages.Provider
	// Heartbeat is the interval at which an idle stream shows that it lives; 0 is DefaultHeartbeat.
	Heartbeat time.Duration
	// Test, if set, makes the handler of the paths under /test, for a development server whose clock is set by a test.
	// permitted reports whether a request bears the admin token or the messages token.
	Test func(permitted func(*http.Request) bool) http.Handler
	// Log logs failures and, at debug level, every request. The default discards them.
	Log *slog.Logger
	// Figures counts calls; origins of one node share it. The default is one of the server's
	// own.
	Figures *stats.Node
	// Traces makes spans of requests; nil makes none.
	Traces *tracing.Commands
	// Audit records administrative acts; nil records nothing.
	Audit *audit.Log
	// Metrics is the process's registry: the server adds its collectors to it and
	// serves it at /metrics. The default is a registry of its own.
	Metrics *prometheus.Registry
	// Prefixes begin the service headers, each accepted on requests and sent on
	// responses. The default is Svc and Upstash.
	Prefixes []string
	// MaxRequestSize is the most bytes of a body; 0 is LargestRequestSize, a negative
	// value the default.
	MaxRequestSize int64
	// MaxRows is the most rows of a batch; 0 is DefaultMaxRows.
	MaxRows int
	// Limits bound what clients may take of this node.
	Limits Limits
	// Buffers is the memory for what is under way; the HTTP and RESP servers of a node share it. The default is one of the
	// server's own, of Limits.BufferedBytes.
	Buffers *buffered.Budget
	// LoopbackOnly refuses requests whose Host is not loopback: dev mode's guard
	// against pages of the user's browser.
	LoopbackOnly bool
	// MetricsPublic serves /metrics and /healthz to everybody.
	MetricsPublic bool
	// MetricsLocal serves them without a token to clients of this machine that ask by a
	// loopback Host, but not to what a proxy on it passes on. Set it for a listener on loopback.
	MetricsLocal bool
}

// Server is the HTTP edge of one node.
type Server struct {
	draining atomic.Bool // see Drain
	engine   Engine
	admin    Admin
	meter    *quota.Meter
	hub      *pubsub.Hub
	clients  Clients
	table    *command.Table
	names    names
	calls    sync.Pool
	http     *http.Server
	fastPath *fastpath.Server
	stopping chan struct{} // closed when streams must end

	observers
	paths
	bounds
	access
}

// observers record what the server does.
type observers struct {
	log     *slog.Logger
	metrics *metrics
	stats   *stats.Node
	traces  *tracing.Commands
	audit   *audit.Log
	history *samples.History
}

// paths route requests that are not commands.
type paths struct {
	router   *gin.Engine
	roots    map[string]bool // see newRoots
	messages *messages.API
	test     http.Handler     // nil without Options.Test
	console  *console.Console // nil without
	apart    bool             // the console has a listener of its own
}

// bounds limit the clients of this node.
type bounds struct {
	limits    Limits
	connLimit *connlimit.Limiter
	buffers   *buffered.Budget
	encoders  encodeTurns
	inflight  *inflight
	maxBody   int64
	maxRows   int
	heartbeat time.Duration
}

// access says which clients may ask at all, and which may read the metrics; see Options.
type access struct{ loopback, metricsPublic, metricsLocal bool }

// New makes a server; Serve starts it. It fails if the options contradict themselves or
// the registry has collectors of the same names.
func New(o Options) (*Server, error) {
	if o.Engine == nil {
		return nil, errors.New("httpapi: no engine")
	}
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	s := &Server{
		engine: o.Engine, admin: o.Admin, meter: o.Meter, hub: o.Hub, clients: o.Clients, table: command.NewTable(),
		names: newNames(o.Prefixes), stopping: make(chan struct{}),
		observers: observers{log: o.Log, audit: o.Audit, traces: o.Traces, history: o.History},
		bounds: bounds{
			limits: o.Limits, inflight: newInflight(o.Limits.InFlight), maxBody: o.MaxRequestSize, maxRows: o.MaxRows, heartbeat: o.Heartbeat,
			connLimit: connlimit.New(connlimit.Limits{Total: o.Limits.Connections, PerAddress: o.Limits.ConnectionsPerIP, Reserve: o.Limits.Reserve}),
		},
		access: access{o.LoopbackOnly, o.MetricsPublic, o.MetricsLocal},
	}
	s.encoders = newEncodeTurns()
	if s.buffers = o.Buffers; s.buffers == nil {
		s.buffers = buffered.New(o.Limits.BufferedBytes)
	}
	if s.stats = o.Figures; s.stats == nil {
		s.stats = stats.New(s.table)
	}
	if s.metrics, err = newMetrics(o.Metrics); err != nil {
		return nil, err
	}
	s.calls.New = func() any { return newCall(s) }
	if o.Console != nil {
		if err := s.newConsole(*o.Console); err != nil {
			return nil, err
		}
	}
	if o.Messages != nil {
		s.messages = s.newMessages(o.Messages, o.Providers)
	}
	if o.Test != nil {
		s.test = o.Test(s.mayTest)
	}
	table := s.routes(o.Metrics)
	s.roots = s.newRoots(table)
	if s.router, err = newRouter(s, table); err != nil {
		return nil, err
	}
	s.http = s.newHTTPServer(o.Log)
	s.fastPath = newFastPath(s)
	if err := watchFastPath(o.Metrics, s.fastPath); err != nil {
		return nil, err
	}
	if err := watchMemory(o.Metrics, s.buffers); err != nil {
		return nil, err
	}
	s.http.RegisterOnShutdown(sync.OnceFunc(func() { close(s.stopping) }))
	return s, nil
}

func (o Options) complete() (Options, error) {
	if o.Meter == nil {
		o.Meter = quota.New(o.Engine)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if len(o.Prefixes) == 0 {
		o.Prefixes = []string{"Svc", "Upstash"}
	}
	if o.MaxRequestSize == 0 {
		o.MaxRequestSize = LargestRequestSize
	}
	if o.MaxRequestSize < 0 {
		o.MaxRequestSize = DefaultMaxRequestSize
	}
	if o.MaxRequestSize > LargestRequestSize {
		return o, fmt.Errorf("httpapi: the largest request size is %d bytes, not %d", int64(LargestRequestSize), o.MaxRequestSize)
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	if o.MaxRows <= 0 {
		o.MaxRows = DefaultMaxRows
	}
	o.Limits.complete()
	return o, nil
}

// idleTimeout bounds the time for which a connection may be without a request. It is long because clients rely on
// keep-alive for speed.
const idleTimeout = 10 * time.Minute

func (s *Server) newHTTPServer(log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.limits.HeaderTime,
		ReadTimeout:       s.limits.BodyTime,
		WriteTimeout:      s.limits.ReplyTime,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    s.limits.HeaderBytes,
		ConnContext:       withSlot,
		ConnState:         noteState,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		// net/http would answer OPTIONS * by itself, before CORS is looked at.
		DisableGeneralOptionsHandler: true,
	}
}

// maxFastPathBody is the largest body that the fast path reads: larger ones gain nothing there.
const maxFastPathBody = 1 << 20

// newFastPath puts the fast path before net/http.
func newFastPath(s *Server) *fastpath.Server {
	return &fastpath.Server{
		Handler: s, HTTP: s.http, MaxHead: s.limits.HeaderBytes, MaxBody: int(min(s.maxBody, maxFastPathBody)),
		HeadTime: s.limits.HeaderTime, BodyTime: s.limits.BodyTime, WriteTime: s.limits.ReplyTime, IdleTime: idleTimeout,
		ConnContext:  withSlot,
		Refuse:       s.refuseRequest,
		MaxStrangers: s.limits.StrangerBytes,
		Crowded: closing(s.names.outcome, &failure{http.StatusServiceUnavailable, notApplied,
			"ERR too many clients without a token send long heads: try again, with a head below 4 KiB"}),
		Plain:   s.onFastPath,
		Batcher: s,
	}
}

// refuseRequest returns the reply to a malformed request, in the form of a rejected command, because clients show that
// error.
func (s *Server) refuseRequest(status int, why string) []byte {
	f := &failure{status, notApplied, "ERR " + why}
	if status == http.StatusRequestHeaderFieldsTooLarge {
		f = headTooLarge(s.limits.HeaderBytes)
	}
	return closing(s.names.outcome, f)
}

// onFastPath reports whether the fast path can answer a target: a command that isn't a stream, and the frequent
// requests of the API of messages. Requests that are answered from the whole head (a webhook keeps it), with links that
// name its scheme (explain), or piece by piece, are left to net/http.
func (s *Server) onFastPath(target []byte) bool {
	first, rest := cutSegment(target[1:])
	if s.messages != nil && string(first) == "db" {
		_, inner := cutSegment(rest)
		if root, in := cutSegment(inner); string(root) == "v2" || string(root) == "llm" {
			first, rest = root, in
		}
	}
	if s.messages != nil && string(first) == "v2" {
		second, rest := cutSegment(rest)
		if !bytes.EqualFold(second, []byte("workflows")) {
			return true
		}
		// Every run of an SDK ends with such a request, on a connection that has carried its steps.
		third, id := cutSegment(rest)
		return string(third) == "runs" && !bytes.ContainsAny(id, "/%")
	}
	return !s.roots[string(first)] && !redis.IsStream(string(first))
}

// cutSegment parts a path at the end of its first segment. An escape ends it too: no name has escapes.
func cutSegment(path []byte) (first, rest []byte) {
	end := bytes.IndexAny(path, "/?%")
	if end < 0 {
		return path, nil
	}
	return path[:end], path[end+1:]
}

// Serve answers requests on l until Shutdown, then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.fastPath.Serve(&limitedListener{Listener: l, server: s}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("httpapi: %w", err)
	}
	return nil
}

// Drain makes every reply from now on ask the client to close its connection ("Connection: close"), so that clients
// that keep connections leave this node. Everything is still answered; Shutdown ends that.
func (s *Server) Drain() { s.draining.Store(true) }

// Shutdown stops listening at once and waits for the requests under way, until ctx
// ends: then it closes their connections.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.fastPath.Shutdown(ctx)
	if err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
