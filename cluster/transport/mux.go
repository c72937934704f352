package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/internal/connlimit"
	"github.com/trireme-dev/trireme/internal/socket"
)

// DialTimeout bounds how long a connection to another node takes to open.
const DialTimeout = time.Second

// mostRetransmit bounds the wait before a connection between nodes goes on after a partition has healed, on systems that let it be
// set. It is the shortest that Linux takes. Calls that were under way hold up their clients until then.
const mostRetransmit = time.Second

// minHandshake is the least time that a handshake is given, however short the dial's timeout.
const minHandshake = 100 * time.Millisecond

// ErrNotReady says that raft's configuration can't be read yet, so that it is not known which server has an address.
var ErrNotReady = errors.New("cluster: the node is starting")

// Config describes a Mux.
type Config struct {
	// Bind is the address to listen on, Advertise the one that others dial, if it differs.
	Bind, Advertise string
	// Security is mutual TLS between nodes; nil: connections are plain.
	Security *Security
	// Dial opens TCP connections.
	Dial func(network, addr string, timeout time.Duration) (net.Conn, error)
}

// Mux listens on the cluster address and dispatches connections by purpose.
type Mux struct {
	net.Listener // nil if others can't call
	config       Config
	node         Callbacks

	raft    chan net.Conn
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup
	limiter limiter
	mu      sync.Mutex
	open    map[net.Conn]bool // accepted
	dialed  []net.Conn        // open, or closed since sweepAt was set
	sweepAt int               // how many dialed connections there are when closed ones are forgotten
}

// Listen opens the cluster port. No connection is accepted before Start.
func Listen(c Config, node Callbacks) (*Mux, error) {
	l, err := net.Listen("tcp", c.Bind)
	if err != nil {
		return nil, fmt.Errorf("cluster port: %w", err)
	}
	if c.Advertise == "" {
		c.Advertise = l.Addr().String()
	}
	return newMux(c, node, l), nil
}

// DialOnly returns a Mux that listens nowhere: others can be called and can't call.
func DialOnly(c Config, node Callbacks) *Mux { return newMux(c, node, nil) }

func newMux(c Config, node Callbacks, l net.Listener) *Mux {
	m := &Mux{Listener: l, config: c, node: node, raft: make(chan net.Conn), open: map[net.Conn]bool{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Start begins to accept connections.
func (m *Mux) Start() {
	if m.Listener == nil {
		return
	}
	m.wg.Go(func() {
		for {
			c, err := m.Listener.Accept()
			if err != nil {
				if m.ctx.Err() != nil {
					return
				}
				time.Sleep(5 * time.Millisecond) // out of descriptors: try again soon
				continue
			}
			socket.BoundRetransmits(c, mostRetransmit)
			if m.track(c) {
				m.wg.Go(func() { m.dispatch(c) })
			}
		}
	})
}

// Context ends when the Mux is closed.
func (m *Mux) Context() context.Context { return m.ctx }

// Advertise returns the address at which others reach this node.
func (m *Mux) Advertise() string { return m.config.Advertise }

// track remembers an open connection, so that Close ends it. It returns false after Close.
func (m *Mux) track(c net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		c.Close()
		return false
	}
	m.open[c] = true
	return true
}

// minSweep is the least number of dialed connections among which closed ones are looked for.
const minSweep = 64

// dial opens a connection of the system and remembers it, so that Close ends it. The error is net.ErrClosed after Close.
func (m *Mux) dial(addr string, timeout time.Duration) (net.Conn, error) {
	c, err := m.config.Dial("tcp", addr, timeout)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		c.Close()
		return nil, net.ErrClosed
	}
	if len(m.dialed) >= max(m.sweepAt, minSweep) {
		m.dialed = slices.DeleteFunc(m.dialed, isClosed)
		m.sweepAt = 2 * len(m.dialed)
	}
	m.dialed = append(m.dialed, c)
	return c, nil
}

// isClosed reports whether a connection of the system was closed here; it is false for others.
func isClosed(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	return err != nil || raw.Control(func(uintptr) {}) != nil
}

// drop closes an accepted connection and forgets it.
func (m *Mux) drop(c net.Conn) {
	c.Close()
	m.mu.Lock()
	delete(m.open, c)
	m.mu.Unlock()
}

// dispatch performs the handshake and passes the connection on by its purpose.
func (m *Mux) dispatch(raw net.Conn) {
	host := connlimit.AddressOf(raw)
	shake, err := m.limiter.startHandshake(host, raw)
	if err != nil {
		m.report(raw.RemoteAddr(), err)
		m.drop(raw)
		return
	}
	c, from, what, err := m.acceptHandshake(raw)
	if !m.limiter.endHandshake(shake) {
		err = fmt.Errorf("%w: the handshake was given up for another host's", ErrTooMany)
	}
	peer := from.peer(host)
	if err == nil {
		err = m.limiter.open(peer)
	}
	if err != nil {
		m.report(raw.RemoteAddr(), err)
		if c != nil && errors.Is(err, ErrRejected) && what != ForWatch {
			writeRejection(c, err)
		}
		m.drop(raw)
		return
	}
	m.deliver(c, raw, from, what, func() { m.drop(raw); m.limiter.close(peer) })
}

// report says that a connection is rejected, and why. Nobody rejects one that its caller has left, or that ended because
// this node closes.
func (m *Mux) report(from net.Addr, why error) {
	if errors.Is(why, io.EOF) || errors.Is(why, syscall.ECONNRESET) || m.ctx.Err() != nil {
		return
	}
	m.node.Rejected(from, why)
}

// deliver serves an accepted connection; end is called once it is over.
func (m *Mux) deliver(c, raw net.Conn, from Hello, what Purpose, end func()) {
	switch what {
	case ForWatch:
		io.Copy(io.Discard, c)
		end()
	case ForRPC:
		c.Write([]byte{accepted})
		serve(c, from, m.node)
		end()
	case ForRaft:
		c.Write([]byte{accepted})
		t := &trackedConn{Conn: c, end: sync.OnceFunc(end)}
		select {
		case m.raft <- t:
		case <-m.ctx.Done():
			t.Close()
		}
	}
}

// acceptHandshake finds out who calls, and judges it.
func (m *Mux) acceptHandshake(raw net.Conn) (c net.Conn, from Hello, what Purpose, err error) {
	raw.SetReadDeadline(time.Now().Add(HandshakeTimeout))
	defer raw.SetReadDeadline(time.Time{})
	c, shown, err := m.config.Security.accept(raw)
	if err != nil {
		return nil, from, 0, err
	}
	if from, what, err = readHello(c); err != nil {
		return c, from, what, err
	}
	if err := m.config.Security.check(shown, from); err != nil {
		return c, Hello{}, what, err
	}
	from.Proved = shown != nil
	return c, from, what, m.node.Admit(from, what)
}

// trackedConn is a connection that raft closes.
type trackedConn struct {
	net.Conn
	end func()
}

func (tc *trackedConn) Close() error {
	err := tc.Conn.Close()
	tc.end()
	return err
}

// DialPeer opens a connection to the node that has an address by raft's configuration.
func (m *Mux) DialPeer(addr string, what Purpose, timeout time.Duration) (net.Conn, error) {
	return m.DialNode(m.node.Expected(addr), addr, what, timeout)
}

// DialNode opens a connection to the node called to, or, if that is empty, to any node at the address.
func (m *Mux) DialNode(to, addr string, what Purpose, timeout time.Duration) (net.Conn, error) {
	raw, err := m.dial(addr, timeout)
	if err != nil {
		return nil, err
	}
	socket.BoundRetransmits(raw, mostRetransmit)
	c, err := m.secure(raw, to, addr, timeout)
	if err != nil {
		return nil, err
	}
	if err := m.sayHello(c, to, what, timeout); err != nil {
		c.Close()
		err = m.explain(err, addr)
		if errors.Is(err, ErrRemoved) || errors.Is(err, ErrRolledBack) || errors.Is(err, ErrCopied) {
			m.node.Excluded(err)
		}
		return nil, err
	}
	return c, nil
}

// sayHello says who calls and waits to be accepted, except on a watching connection, which the other side never answers.
func (m *Mux) sayHello(c net.Conn, to string, what Purpose, timeout time.Duration) error {
	c.SetDeadline(time.Now().Add(max(timeout, minHandshake)))
	defer c.SetDeadline(time.Time{})
	h := m.node.Hello()
	h.To = to
	if _, err := c.Write(h.encode(what)); err != nil {
		return err
	}
	if what == ForWatch {
		return nil
	}
	return readAccepted(c)
}

// Accept returns raft's next connection.
func (m *Mux) Accept() (net.Conn, error) {
	select {
	case c := <-m.raft:
		return c, nil
	case <-m.ctx.Done():
		return nil, net.ErrClosed
	}
}

// DialRaft connects raft's transport to another node, once it is known which process that is.
func (m *Mux) DialRaft(addr string, timeout time.Duration) (net.Conn, error) {
	return m.dialVerified(addr, ForRaft, timeout)
}

// DialAppends does what DialRaft does, for a connection that carries raft's appends as calls.
func (m *Mux) DialAppends(addr string, timeout time.Duration) (net.Conn, error) {
	return m.dialVerified(addr, ForRPC, timeout)
}

func (m *Mux) dialVerified(addr string, what Purpose, timeout time.Duration) (net.Conn, error) {
	if m.node.Expected(addr) == "" { // raft may begin before its configuration can be read here
		return nil, ErrNotReady
	}
	if err := m.node.Verify(addr, timeout); err != nil {
		if errors.Is(err, ErrRolledBack) {
			m.report(advertised(addr), err)
		}
		return nil, err
	}
	c, err := m.DialPeer(addr, what, timeout)
	if err == nil {
		discardOnClose(c)
	}
	return c, err
}

// discardOnClose makes the system discard unsent bytes when the connection is closed. Otherwise it would go on sending:
// a leader that steps down because it hears nothing has appends under way that its followers have not acknowledged, and
// each that arrives later puts off the election of the next leader.
func discardOnClose(c net.Conn) {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = over.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // a connection that fails is closed soon
	}
}

// Addr returns the address that other nodes know.
func (m *Mux) Addr() net.Addr { return advertised(m.config.Advertise) }

// Close ends the port, every connection that came through it, and every one that was dialed. No other is dialed afterwards: a node that
// must end can neither serve nor lead, even if its process stays.
func (m *Mux) Close() (err error) {
	m.cancel()
	if m.Listener != nil {
		err = m.Listener.Close()
	}
	m.mu.Lock()
	for c := range m.open {
		c.Close()
	}
	for _, c := range m.dialed {
		c.Close()
	}
	m.dialed = nil
	m.mu.Unlock()
	return err
}

// Wait returns when everything that accepted connections had started has ended; Close comes first.
func (m *Mux) Wait() { m.wg.Wait() }

// advertised is an address as configured: a name stays a name.
type advertised string

func (a advertised) Network() string { return "tcp" }
func (a advertised) String() string  { return string(a) }

// Callbacks connects a Mux with the node that it belongs to. All methods may be called by any goroutine, at any time
// from Mux.Start until Mux.Wait has returned.
type Callbacks interface {
	// Hello returns this node's introduction, which begins every connection.
	Hello() Hello
	// Expected returns the id of the node that has an address by raft's configuration, empty if it isn't known.
	Expected(addr string) string
	// Admit judges a caller by its Hello. An error that is ErrRejected is sent to the caller.
	Admit(from Hello, what Purpose) error
	// Verify judges the process at an address before raft connects to it.
	Verify(addr string, timeout time.Duration) error
	// Handle answers a call by calling answer once, now or later. It must not block: what takes time runs elsewhere.
	// raft's appends are the exception: they have a connection of their own, and reach raft one by one.
	Handle(from Hello, kind Kind, payload []byte, answer func([]byte, error))
	// Excluded is called when the node at the other end rejects this one for good: why is ErrRemoved, ErrRolledBack
	// or ErrCopied.
	Excluded(why error)
	// Rejected is called with the reason why a connection was not accepted.
	Rejected(from net.Addr, why error)
}
