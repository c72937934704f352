package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// dialTime bounds how long a connection to another node takes to open.
const dialTime = time.Second

// port listens on the cluster address and sorts connections by purpose. It is
// raft's StreamLayer.
type port struct {
	net.Listener
	advertise string
	self      func() greeting
	// expect is the id of the node that is to have an address, empty if it isn't known.
	expect func(addr string) string
	// removed is told that another node says that this one was removed.
	removed func(why error)
	// rolledBack is told that another node says that this one runs on an older copy of its data.
	rolledBack func(why error)
	// acquaint judges who has an address before raft speaks with it.
	acquaint func(addr string, timeout time.Duration) error
	connect  func(network, addr string, timeout time.Duration) (net.Conn, error)
	admit    func(greeting, purpose) error
	serve    func(connection, greeting)
	secure   *Security // nil: connections between nodes are plain
	// refuse is told why a connection is not taken.
	refuse func(from net.Addr, why error)

	raft   chan net.Conn
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	mu     sync.Mutex
	open   map[net.Conn]bool
}

// listenPort opens the cluster port. Until serve and admit are set by the caller no
// connection is taken.
func listenPort(bind, advertise string) (*port, error) {
	l, err := net.Listen("tcp", bind)
	if err != nil {
		return nil, fmt.Errorf("cluster port: %w", err)
	}
	if advertise == "" {
		advertise = l.Addr().String()
	}
	p := &port{Listener: l, advertise: advertise, raft: make(chan net.Conn), open: map[net.Conn]bool{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// start begins to take connections.
func (p *port) start() {
	p.wg.Go(func() {
		for {
			c, err := p.Listener.Accept()
			if err != nil {
				if p.ctx.Err() != nil {
					return
				}
				time.Sleep(5 * time.Millisecond) // out of descriptors: try again soon
				continue
			}
			if p.track(c, true) {
				p.wg.Go(func() { p.sort(c) })
			}
		}
	})
}

// track remembers open connections, so that close ends them.
func (p *port) track(c net.Conn, add bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !add:
		delete(p.open, c)
	case p.ctx.Err() != nil:
		c.Close()
		return false
	default:
		p.open[c] = true
	}
	return true
}

// sort reads the greeting and hands the connection to whom it is for.
func (p *port) sort(raw net.Conn) {
	c, g, what, err := p.meet(raw)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			p.refuse(raw.RemoteAddr(), err)
		}
		if c != nil && errors.Is(err, ErrRefused) && what != forWatch {
			writeRefusal(c, err)
		}
		p.drop(raw)
		return
	}
	switch what {
	case forWatch:
		io.Copy(io.Discard, c)
		p.drop(raw)
	case forPeer:
		c.Write([]byte{taken})
		p.serve(c, g)
		p.drop(raw)
	case forRaft:
		c.Write([]byte{taken})
		select {
		case p.raft <- &trackedConn{Conn: c, raw: raw, p: p}:
		case <-p.ctx.Done():
			p.drop(raw)
		}
	}
}

// meet finds out who calls, and judges it.
func (p *port) meet(raw net.Conn) (c net.Conn, g greeting, what purpose, err error) {
	raw.SetReadDeadline(time.Now().Add(greetTime))
	defer raw.SetReadDeadline(time.Time{})
	c, shown, err := p.secure.take(raw)
	if err != nil {
		return nil, g, 0, err
	}
	if g, what, err = readGreeting(c); err != nil {
		return c, g, what, err
	}
	if err := p.secure.check(what, shown, g); err != nil {
		return c, g, what, err
	}
	return c, g, what, p.admit(g, what)
}

func (p *port) drop(c net.Conn) {
	c.Close()
	p.track(c, false)
}

// trackedConn is forgotten by the port when raft closes it.
type trackedConn struct {
	net.Conn
	raw net.Conn // what the port accepted, without TLS
	p   *port
}

func (t *trackedConn) Close() error {
	err := t.Conn.Close()
	t.p.track(t.raw, false)
	return err
}

// dial opens a connection to the node that is to have an address.
func (p *port) dial(addr string, what purpose, timeout time.Duration) (net.Conn, error) {
	return p.dialNode(p.expect(addr), addr, what, timeout)
}

// dialNode opens a connection to the node called to, or, if that is empty, to whoever
// has the address.
func (p *port) dialNode(to, addr string, what purpose, timeout time.Duration) (net.Conn, error) {
	raw, err := p.connect("tcp", addr, timeout)
	if err != nil {
		return nil, err
	}
	c := raw
	if what != forWatch {
		if c, err = p.secure.call(raw, to, max(timeout, 100*time.Millisecond)); err != nil {
			raw.Close()
			return nil, err
		}
	}
	if err := p.greet(c, to, what, timeout); err != nil {
		c.Close()
		switch {
		case errors.Is(err, ErrRemoved):
			p.removed(err)
		case errors.Is(err, ErrRolledBack):
			p.rolledBack(err)
		}
		return nil, err
	}
	return c, nil
}

// greet says who calls and waits for consent, but for a watching connection, which the
// other side never answers.
func (p *port) greet(c net.Conn, to string, what purpose, timeout time.Duration) error {
	c.SetDeadline(time.Now().Add(max(timeout, 100*time.Millisecond)))
	defer c.SetDeadline(time.Time{})
	g := p.self()
	g.to = to
	if _, err := c.Write(g.encode(what)); err != nil {
		return err
	}
	if what == forWatch {
		return nil
	}
	return readConsent(c)
}

// Accept gives raft its next connection.
func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.raft:
		return c, nil
	case <-p.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Dial connects raft's transport to another node.
func (p *port) Dial(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	if p.expect(string(addr)) == "" { // raft may begin before its configuration can be read here
		return nil, errNotRunning
	}
	if err := p.acquaint(string(addr), timeout); err != nil {
		if errors.Is(err, ErrRolledBack) {
			p.refuse(advertised(addr), err)
		}
		return nil, err
	}
	return p.dial(string(addr), forRaft, timeout)
}

// Addr is the address that other nodes know.
func (p *port) Addr() net.Addr { return advertised(p.advertise) }

// Close ends the port and every connection that came through it.
func (p *port) Close() error {
	p.cancel()
	err := p.Listener.Close()
	p.mu.Lock()
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	return err
}

// connection is a net.Conn; named here so that node.go needs no import of net.
type connection = net.Conn

// advertised is an address as configured: a name stays a name.
type advertised string

func (a advertised) Network() string { return "tcp" }
func (a advertised) String() string  { return string(a) }
