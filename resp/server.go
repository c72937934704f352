package resp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/buffered"
	"github.com/trireme-dev/trireme/internal/connlimit"
	"github.com/trireme-dev/trireme/node/audit"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/node/quota"
	"github.com/trireme-dev/trireme/node/stats"
	"github.com/trireme-dev/trireme/node/tracing"
)

// Engine runs a server's commands: the node, or a stand-in for tests. The engine bounds Propose and
// Read by its own deadline.
type Engine interface {
	fsm.Proposer
	fsm.Reader
	// Local runs fn once on the state of this node as it is, however old, without asking a leader.
	Local(fn func(*fsm.View))
	// Track switches notifications of the keys that applies on this node touch, which are
	// passed to Server.Notify; calls nest. See fsm.Machine.
	Track(on bool)
}

// Options are the parts and the limits of a Server.
type Options struct {
	// Engine is required.
	Engine Engine
	// Meter counts commands against the daily limits; the HTTP and RESP servers of a node
	// share it. The default is one of the server's own.
	Meter *quota.Meter
	// Hub delivers messages and executed commands to connections; without one they can't
	// subscribe. Its owner closes it after Shutdown.
	Hub *pubsub.Hub
	// TLS, if set, is spoken on every connection.
	TLS *tls.Config
	// Log takes failures. The default discards.
	Log *slog.Logger
	// Stats counts calls; the HTTP and RESP servers of a node share it. The default is one
	// of the server's own.
	Stats *stats.Node
	// Traces makes spans of commands; nil makes none.
	Traces *tracing.Commands
	// Audit records administrative commands; nil records nothing.
	Audit *audit.Log
	// Metrics is the process's registry. The default is a registry of its own.
	Metrics prometheus.Registerer
	// Limits bound what clients may take of this node.
	Limits Limits
	// Buffers is the memory for requests under way; the HTTP and RESP servers of a node share it. The default is unlimited.
	Buffers *buffered.Budget
}

// Server is the RESP edge of one node.
type Server struct {
	engine Engine
	meter  *quota.Meter
	hub    *pubsub.Hub
	tls    *tls.Config
	log    *slog.Logger
	table  *command.Table
	own    map[*command.Command]ownCommand
	limits Limits
	recording
	refused              atomic.Int64 // connections
	limiter              *connlimit.Limiter
	clients              *clients
	pauses               pauses
	blocked              *blockedClients
	parked               *parkedClients
	loop                 *eventLoop
	tracker              *tracker
	intakes              *intakes
	lastID               atomic.Uint64
	leaving              atomic.Uint64 // the last connection that Drain has end
	buffers              *buffered.Budget
	unauthenticatedBytes atomic.Int64 // bytes of Limits.UnauthenticatedBytes that are held; see conn.chargeInput

	httpLogged atomic.Int64 // when a client that sends HTTP was logged last, in unix seconds

	lifetime
}

// recording tells operators what clients do.
type recording struct {
	metrics *metrics
	stats   *stats.Node
	traces  *tracing.Commands
	audit   *audit.Log
}

// lifetime ends the connections and the calls of a server.
type lifetime struct {
	life      context.Context // of calls to the engine: ends when the server is closed for good
	stop      context.CancelFunc
	stopping  chan struct{} // closed when connections have to end
	once      sync.Once
	conns     sync.WaitGroup
	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	closed    bool
}

// New makes a server; Serve starts it.
func New(o Options) (*Server, error) {
	if o.Engine == nil {
		return nil, errors.New("resp: no engine")
	}
	o.complete()
	s := &Server{
		engine: o.Engine, meter: o.Meter, hub: o.Hub, tls: o.TLS, log: o.Log, table: command.NewTable(), limits: o.Limits,
		limiter: connlimit.New(o.Limits.connections()), clients: newClients(), lifetime: lifetime{stopping: make(chan struct{}), listeners: map[net.Listener]struct{}{}},
	}
	s.audit, s.traces, s.buffers = o.Audit, o.Traces, o.Buffers
	if s.stats = o.Stats; s.stats == nil {
		s.stats = stats.New(s.table)
	}
	s.stats.SetClients(s.count)
	s.stats.SetThresholds(s.thresholds)
	s.life, s.stop = context.WithCancel(context.Background())
	s.own = ownCommands(s.table)
	s.blocked, s.parked, s.tracker, s.loop = newBlockedClients(s), newParkedClients(s), newTracker(s), newEventLoop(s)
	var err error
	if s.metrics, err = newMetrics(o.Metrics); err != nil {
		return nil, err
	}
	s.intakes = newIntakes(s)
	if s.hub != nil {
		s.hub.BeforeCount(s.intakes.settle)
	}
	go s.blocked.run(s.life) // ends with Shutdown
	go s.tracker.run(s.life) // the same
	if s.parked.loop != nil {
		go s.parked.run(s) // the same
	}
	if s.loop.loop != nil {
		go s.loop.run() // the same
	}
	return s, nil
}

// Notify takes the notifications of applies on this node, in log order.
func (s *Server) Notify(notes []env.Notification) {
	s.tracker.notify(notes) // first: see blockedClients.deferDeliveries
	s.blocked.notify(notes)
}

// Restored is called when a snapshot has replaced the node's state.
func (s *Server) Restored() {
	s.blocked.recheckAll()
	s.tracker.resync()
}

func (o *Options) complete() {
	if o.Meter == nil {
		o.Meter = quota.New(o.Engine)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	if o.Buffers == nil {
		o.Buffers = buffered.New(0)
	}
	o.Limits.complete()
}

// Serve answers connections that l accepts until Shutdown, then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if !s.track(l) {
		return l.Close()
	}
	defer s.untrack(l)
	for pauseFor := time.Duration(0); ; {
		nc, err := l.Accept()
		if err == nil {
			pauseFor = 0
			s.accept(nc)
			continue
		}
		var slow interface{ Temporary() bool }
		switch {
		case s.isStopping():
			return nil
		case errors.As(err, &slow) && slow.Temporary(): // out of file descriptors, most likely
			pauseFor = min(max(2*pauseFor, 5*time.Millisecond), time.Second)
			s.log.Warn("resp: accept", "error", err)
			s.idle(pauseFor)
		default:
			return fmt.Errorf("resp: %w", err)
		}
	}
}

// idle waits for d or the server's shutdown.
func (s *Server) idle(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.stopping:
	}
}

func (s *Server) track(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) untrack(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

func (s *Server) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

// accept begins a connection, or refuses it.
func (s *Server) accept(nc net.Conn) {
	slot, _ := s.limiter.Enter(connlimit.AddressOf(nc), func() { nc.Close() })
	if slot == nil {
		s.metrics.refused.Inc()
		s.refused.Add(1)
		s.refuse(nc)
		return
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		slot.Leave()
		nc.Close()
		return
	}
	s.conns.Add(1)
	s.mu.Unlock()
	go func() { newConn(s, nc, slot).serveToEnd() }() // ends with the connection, which Shutdown ends
}

// refuse sends the error for too many connections if that needs no waiting, and closes the
// connection. Over TLS it only closes: an error would need a handshake first.
func (s *Server) refuse(nc net.Conn) {
	defer nc.Close()
	if s.tls == nil && nc.SetWriteDeadline(time.Now().Add(time.Millisecond)) == nil {
		// An error means that the client has disconnected.
		_, _ = nc.Write([]byte("-" + textMaxClients + "\r\n"))
	}
}

// Shutdown stops listening at once, lets connections finish what they have begun, and
// closes them; when ctx ends it closes what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	var failed error
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		close(s.stopping)
		for l := range s.listeners { // unordered: each is closed alike
			failed = errors.Join(failed, l.Close())
		}
		s.mu.Unlock()
		s.clients.each(func(c *conn) { c.wakeToStop() })
		s.parked.stop()
		s.loop.stop()
	})
	ended := make(chan struct{})
	go func() { s.conns.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		failed = errors.Join(failed, fmt.Errorf("resp: connections were cut off: %w", ctx.Err()))
		s.stop()
		s.clients.each(func(c *conn) { c.closeSocket() })
		<-ended
	}
	s.stop()
	<-s.blocked.done
	<-s.tracker.done
	return errors.Join(failed, s.intakes.close())
}
