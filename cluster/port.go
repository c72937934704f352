package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"trireme/fsm/wire"
)

// The cluster port carries everything between nodes. A connection opens with a
// greeting that says who calls, of which cluster and disk, and for what; the other
// side answers one byte, 0 if it takes the connection, or says why not.
const (
	portMagic   = "TRIR\x01"
	greetTime   = 2 * time.Second
	maxGreeting = 4 << 10
	dialTime    = time.Second
)

// purpose is what a connection is for.
type purpose byte

const (
	forRaft  purpose = 'R' // raft's own transport
	forPeer  purpose = 'P' // our calls
	forWatch purpose = 'W' // silent: the hint watches for its end
)

// ErrRefused says that another node refused a connection: its text says why.
var ErrRefused = errors.New("cluster: connection refused by the other node")

// greeting says who calls.
type greeting struct {
	cluster, node, disk string
}

func (g greeting) encode(p purpose) []byte {
	var w wire.Writer
	w.Fixed([]byte(portMagic))
	w.Fixed([]byte{byte(p)})
	w.Record(func(w *wire.Writer) { w.String(g.cluster); w.String(g.node); w.String(g.disk) })
	return w.B
}

// port listens on the cluster address and sorts connections by purpose. It is
// raft's StreamLayer.
type port struct {
	net.Listener
	advertise string
	self      func() greeting
	connect   func(network, addr string, timeout time.Duration) (net.Conn, error)
	admit     func(greeting, purpose) error
	serve     func(connection, greeting)

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
func (p *port) sort(c net.Conn) {
	g, what, err := readGreeting(c)
	if err == nil {
		err = p.admit(g, what)
	}
	if err != nil {
		if errors.Is(err, ErrRefused) {
			c.SetWriteDeadline(time.Now().Add(greetTime))
			c.Write(append([]byte{1, byte(min(len(err.Error()), 255))}, err.Error()[:min(len(err.Error()), 255)]...))
		}
		p.drop(c)
		return
	}
	switch what {
	case forWatch:
		io.Copy(io.Discard, c)
		p.drop(c)
	case forPeer:
		c.Write([]byte{0})
		p.serve(c, g)
		p.drop(c)
	case forRaft:
		c.Write([]byte{0})
		select {
		case p.raft <- &trackedConn{Conn: c, p: p}:
		case <-p.ctx.Done():
			p.drop(c)
		}
	}
}

func (p *port) drop(c net.Conn) {
	c.Close()
	p.track(c, false)
}

// trackedConn is forgotten by the port when raft closes it.
type trackedConn struct {
	net.Conn
	p *port
}

func (t *trackedConn) Close() error {
	err := t.Conn.Close()
	t.p.track(t.Conn, false)
	return err
}

func readGreeting(c net.Conn) (g greeting, what purpose, err error) {
	c.SetReadDeadline(time.Now().Add(greetTime))
	defer c.SetReadDeadline(time.Time{})
	head := make([]byte, len(portMagic)+1)
	if _, err := io.ReadFull(c, head); err != nil {
		return g, 0, err
	}
	if string(head[:len(portMagic)]) != portMagic {
		return g, 0, errors.New("cluster: not a node of ours")
	}
	what = purpose(head[len(portMagic)])
	if what != forRaft && what != forPeer && what != forWatch {
		return g, 0, fmt.Errorf("cluster: unknown purpose %q", what)
	}
	n, err := readUvarint(c)
	if err != nil || n > maxGreeting {
		return g, 0, fmt.Errorf("cluster: greeting of %d bytes: %w", n, err)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c, body); err != nil {
		return g, 0, err
	}
	r := wire.NewReader(body)
	g = greeting{r.String(), r.String(), r.String()}
	return g, what, r.Done()
}

// readUvarint reads byte by byte, so that nothing behind the number is taken.
func readUvarint(r io.Reader) (v uint64, err error) {
	var b [1]byte
	for shift := 0; shift < 64; shift += 7 {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return 0, err
		}
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("cluster: number too long")
}

// dial opens a connection to another node and waits for its consent, but for a
// watching one, which the other side never answers.
func (p *port) dial(addr string, what purpose, timeout time.Duration) (net.Conn, error) {
	c, err := p.connect("tcp", addr, timeout)
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(max(timeout, 100*time.Millisecond)))
	if _, err := c.Write(p.self().encode(what)); err != nil {
		c.Close()
		return nil, err
	}
	if what != forWatch {
		if err := readConsent(c); err != nil {
			c.Close()
			return nil, err
		}
	}
	c.SetDeadline(time.Time{})
	return c, nil
}

func readConsent(c net.Conn) error {
	var b [2]byte
	if _, err := io.ReadFull(c, b[:1]); err != nil {
		return fmt.Errorf("cluster: greeting not answered: %w", err)
	}
	if b[0] == 0 {
		return nil
	}
	if _, err := io.ReadFull(c, b[1:]); err != nil {
		return ErrRefused
	}
	why, _ := io.ReadAll(io.LimitReader(bufio.NewReader(c), int64(b[1])))
	return fmt.Errorf("%w: %s", ErrRefused, why)
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
