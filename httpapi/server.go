// Package httpapi is HTTP at the edge of a node: it reads requests, calls the engine
// once, and writes replies. It keeps no state that matters.
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
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"trireme/audit"
	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/httpapi/hub"
	"trireme/httpapi/lane"
	"trireme/httpapi/messages"
	"trireme/httpapi/redis"
	"trireme/observe/figures"
	"trireme/quota"
)

// Engine is what the edge needs of the node: the log, reads, and the node's health.
//
// Propose and Read are bounded by the engine's own deadline, so that the edge need not
// make a timer for each request; their context ends when the client goes away.
type Engine interface {
	fsm.Proposer
	fsm.Reader
	// Local runs fn once on the state of this node as it is, however old, and asks
	// nobody. It serves early answers that are confirmed or checked again later.
	Local(fn func(*fsm.View))
	// Ready is nil if this node has a leader and has caught up with it; otherwise it
	// says what is missing.
	Ready() error
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
	// Admin serves what /admin asks of the process; without one those paths answer 404.
	Admin Admin
	// Meter counts commands against the daily limits; doors of one node share it. The
	// default is one of the server's own.
	Meter *quota.Meter
	// Hub brings messages and executed commands to streams; without one their paths
	// answer 404. Its owner closes it, after Shutdown.
	Hub *hub.Hub
	// Messages, if set, reads requests to the API of messages under /v2; without it those
	// paths answer 404.
	Messages *messages.Parser
	// Providers asks API destinations at once, for /llm; nil if there are none.
	Providers messages.Provider
	// Heartbeat is how often an idle stream shows that it lives; 0 is DefaultHeartbeat.
	Heartbeat time.Duration
	// Log takes failures and, at debug level, every request. The default discards.
	Log *slog.Logger
	// Figures counts calls; doors of one node share it. The default is one of the server's
	// own.
	Figures *figures.Node
	// Audit records what is done by those who administer; nil records nothing.
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
	// LoopbackOnly refuses requests whose Host is not loopback: dev mode's guard
	// against pages of the user's browser (decisions 32).
	LoopbackOnly bool
	// OpenMetrics lets anybody see /metrics and /healthz: set it if the listener is on
	// loopback or the operator asked for it (decisions 34).
	OpenMetrics bool
}

// Server is the HTTP edge of one node.
type Server struct {
	engine   Engine
	admin    Admin
	meter    *quota.Meter
	hub      *hub.Hub
	log      *slog.Logger
	table    *command.Table
	names    names
	metrics  *metrics
	figures  *figures.Node
	audit    *audit.Log
	fixed    *gin.Engine
	messages *messages.API
	http     *http.Server
	lane     *lane.Server
	calls    sync.Pool
	bounds   Limits
	gate     *gate
	flight   *flight
	maxBody  int64
	maxRows  int
	loopback bool
	open     bool

	heartbeat time.Duration
	stopping  chan struct{} // closed when streams must end
}

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
		engine: o.Engine, admin: o.Admin, audit: o.Audit, meter: o.Meter, log: o.Log, table: command.NewTable(),
		names: newNames(o.Prefixes), maxBody: o.MaxRequestSize, maxRows: o.MaxRows,
		loopback: o.LoopbackOnly, open: o.OpenMetrics, hub: o.Hub, heartbeat: o.Heartbeat, stopping: make(chan struct{}),
		bounds: o.Limits, gate: newGate(o.Limits), flight: newFlight(o.Limits.InFlight),
	}
	if s.figures = o.Figures; s.figures == nil {
		s.figures = figures.New(s.table)
	}
	if s.metrics, err = newMetrics(o.Metrics); err != nil {
		return nil, err
	}
	s.calls.New = func() any { return newCall(s) }
	s.fixed = s.fixedRoutes(o.Metrics)
	if o.Messages != nil {
		s.messages = s.newMessages(o.Messages, o.Providers)
	}
	s.http = s.newHTTPServer(o.Log)
	s.lane = newLane(s)
	if err := watchLane(o.Metrics, s.lane); err != nil {
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

// idleTimeout is how long a connection may be without a request: long, because clients
// rely on keep-alive for speed.
const idleTimeout = 10 * time.Minute

func (s *Server) newHTTPServer(log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.bounds.HeaderTime,
		ReadTimeout:       s.bounds.BodyTime,
		WriteTimeout:      s.bounds.ReplyTime,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    s.bounds.HeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		// net/http would answer OPTIONS * by itself, before CORS is looked at.
		DisableGeneralOptionsHandler: true,
	}
}

// laneBody is the largest body that the lane reads: larger ones gain nothing there.
const laneBody = 1 << 20

// newLane puts the lane for commands before net/http.
func newLane(s *Server) *lane.Server {
	return &lane.Server{
		Handler: s, HTTP: s.http, MaxHead: s.bounds.HeaderBytes, MaxBody: int(min(s.maxBody, laneBody)),
		HeadTime: s.bounds.HeaderTime, BodyTime: s.bounds.BodyTime, WriteTime: s.bounds.ReplyTime, IdleTime: idleTimeout,
		HeadTooLarge: closing(s.names.outcome, headTooLarge(s.bounds.HeaderBytes)),
		Plain:        s.inLane,
	}
}

// inLane tells whether the lane can answer a target: a command that isn't a stream, and of
// the API of messages what a client asks for again and again. What is answered from the
// whole head of a request (a webhook keeps it) or piece by piece is left to net/http.
func (s *Server) inLane(target []byte) bool {
	first, rest := cutSegment(target[1:])
	if s.messages != nil && string(first) == "v2" {
		second, _ := cutSegment(rest)
		return !bytes.EqualFold(second, []byte("workflows"))
	}
	return !isFixed(string(first)) && !redis.IsStream(string(first))
}

// cutSegment parts a path at the end of its first segment. An escape ends one too: what
// is escaped is nobody's name.
func cutSegment(path []byte) (first, rest []byte) {
	end := bytes.IndexAny(path, "/?%")
	if end < 0 {
		return path, nil
	}
	return path[:end], path[end+1:]
}

// Serve answers requests on l until Shutdown, then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if s.gate != nil {
		l = &gatedListener{l, s.gate, s.names.outcome}
	}
	if err := s.lane.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("httpapi: %w", err)
	}
	return nil
}

// Shutdown stops listening at once and waits for the requests under way, until ctx
// ends: then it closes their connections.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.lane.Shutdown(ctx)
	if err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
