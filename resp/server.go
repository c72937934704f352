// Package resp is the Redis protocol at the edge of a node: it reads commands from
// connections, brings what has arrived together into the log or onto one view, and writes
// the replies in their order. Connections have state (who they are, a transaction that is
// being queued, subscriptions, a wait); everything else is behind the engine.
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

	"trireme/audit"
	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/fsm/env"
	"trireme/httpapi/hub"
	"trireme/observe/figures"
	"trireme/quota"
)

// Engine is what the port needs of the node. Propose and Read are bounded by the engine's
// own deadline.
type Engine interface {
	fsm.Proposer
	fsm.Reader
	// Local runs fn once on the state of this node as it is, however old, and asks nobody.
	Local(fn func(*fsm.View))
	// Track asks for notes of the keys that applies on this node touch, which Server.Notes
	// has to be given, or takes that back; see fsm.Machine.
	Track(on bool)
}

// Options are the parts and the limits of a Server.
type Options struct {
	// Engine is required.
	Engine Engine
	// Meter counts commands against the daily limits; doors of one node share it. The
	// default is one of the server's own.
	Meter *quota.Meter
	// Hub brings messages and executed commands to connections; without one they can't
	// subscribe. Its owner closes it, after Shutdown.
	Hub *hub.Hub
	// TLS, if set, is spoken on every connection.
	TLS *tls.Config
	// Log takes failures. The default discards.
	Log *slog.Logger
	// Figures counts calls; doors of one node share it. The default is one of the server's
	// own.
	Figures *figures.Node
	// Audit records what is done by those who administer; nil records nothing.
	Audit *audit.Log
	// Metrics is the process's registry. The default is a registry of its own.
	Metrics prometheus.Registerer
	// Limits bound what clients may take of this node.
	Limits Limits
}

// Server is the RESP edge of one node.
type Server struct {
	engine  Engine
	meter   *quota.Meter
	hub     *hub.Hub
	tls     *tls.Config
	log     *slog.Logger
	table   *command.Table
	own     map[*command.Command]ownCommand
	limits  Limits
	metrics *metrics
	figures *figures.Node
	audit   *audit.Log
	traffic traffic
	gate    *gate
	clients *clients
	pause   pause
	room    *room
	crowd   *crowd
	tracker *tracker
	lastID  atomic.Uint64

	life     context.Context // of calls to the engine: ends when the server is closed for good
	stop     context.CancelFunc
	stopping chan struct{} // closed when connections have to end
	once     sync.Once
	conns    sync.WaitGroup

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
		engine: o.Engine, meter: o.Meter, hub: o.Hub, audit: o.Audit, tls: o.TLS, log: o.Log, table: command.NewTable(), limits: o.Limits,
		gate: newGate(o.Limits), clients: newClients(), stopping: make(chan struct{}), listeners: map[net.Listener]struct{}{},
	}
	if s.figures = o.Figures; s.figures == nil {
		s.figures = figures.New(s.table)
	}
	s.figures.SetClients(s.count)
	s.life, s.stop = context.WithCancel(context.Background())
	s.own = ownCommands(s.table)
	s.room, s.tracker, s.crowd = newRoom(s), newTracker(s), newCrowd(s)
	var err error
	if s.metrics, err = newMetrics(o.Metrics, s); err != nil {
		return nil, err
	}
	go s.room.run(s.life)    // ends with Shutdown
	go s.tracker.run(s.life) // the same
	if s.crowd.watch != nil {
		go s.crowd.run() // the same
	}
	return s, nil
}

// Notes takes what applies on this node have to tell, in log order.
func (s *Server) Notes(notes []env.Note) {
	s.room.notes(notes)
	s.tracker.notes(notes)
}

// Restored is told when a snapshot has replaced the node's state.
func (s *Server) Restored() {
	s.room.all()
	s.tracker.all()
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

// idle waits, but not beyond the server's end.
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
	ip := addressOf(nc)
	if !s.gate.enter(ip) {
		s.metrics.refused.Inc()
		s.traffic.refused.Add(1)
		s.refuse(nc)
		return
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.gate.leave(ip)
		nc.Close()
		return
	}
	s.conns.Add(1)
	s.mu.Unlock()
	go func() { newConn(s, nc, ip).live() }() // ends with the connection, which Shutdown ends
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
		s.crowd.stop()
	})
	ended := make(chan struct{})
	go func() { s.conns.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		failed = errors.Join(failed, fmt.Errorf("resp: connections were cut off: %w", ctx.Err()))
		s.stop()
		s.clients.each(func(c *conn) { c.cut() })
		<-ended
	}
	s.stop()
	<-s.room.done
	<-s.tracker.done
	return failed
}
