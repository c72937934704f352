package transport

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
)

// BulkBytes is the size from which a payload travels over a connection of its own, so that small calls to the same
// node, above all read confirmations and commit indexes, don't queue behind it.
const BulkBytes = 64 << 10

// ErrEnded says that a connection ended before a call was answered, and the one that replaced it as well.
var ErrEnded = errors.New("cluster: connection to the node ended twice")

// Pool keeps the connections for calls to each node that was asked for: one for small calls, and one for large ones once
// there are any.
type Pool struct {
	m      *Mux
	mu     sync.Mutex
	conns  map[route]*Conn
	wg     sync.WaitGroup
	closed bool
}

// route names a connection of the pool.
type route struct {
	addr string
	bulk bool
}

// NewPool returns a pool without connections.
func NewPool(m *Mux) *Pool { return &Pool{m: m, conns: map[route]*Conn{}} }

// Get returns the connection to the node at addr for a payload of that size, dialed if there is none.
func (p *Pool) Get(addr string, size int) (*Conn, error) {
	to := route{addr, size >= BulkBytes}
	p.mu.Lock()
	c := p.conns[to]
	p.mu.Unlock()
	if c != nil && !c.Ended() {
		return c, nil
	}
	conn, err := p.m.DialPeer(addr, ForRPC, DialTimeout)
	if err != nil {
		return nil, err
	}
	return p.put(to, conn)
}

// put adds a new connection, unless another call was quicker.
func (p *Pool) put(to route, conn net.Conn) (*Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	if other := p.conns[to]; other != nil && !other.Ended() {
		conn.Close()
		return other, nil
	}
	c := newConn(conn)
	p.conns[to] = c
	p.wg.Go(c.readAnswers)
	return c, nil
}

// Open returns the connection for small calls to addr if there is an open one.
func (p *Pool) Open(addr string) *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.conns[route{addr, false}]; c != nil && !c.Ended() {
		return c
	}
	return nil
}

// Ask dials if need be and waits for the answer. If the connection turns out to have ended, it dials once more: only
// for calls that may be repeated.
func (p *Pool) Ask(ctx context.Context, addr string, kind Kind, payload []byte) (b []byte, err error) {
	for range 2 {
		c, err := p.Get(addr, len(payload))
		if err != nil {
			return nil, err
		}
		if b, err = c.Ask(ctx, kind, payload); err == nil || ctx.Err() != nil || !c.Ended() {
			return b, err
		}
	}
	return nil, errors.Join(err, ErrEnded)
}

// AbandonExcept fails the pending calls whose kind matches on all connections but those to addr.
func (p *Pool) AbandonExcept(addr string, err error, matches func(Kind) bool) {
	p.mu.Lock()
	others := make([]*Conn, 0, len(p.conns))
	for to, c := range p.conns { // unordered: each is treated alike
		if to.addr != addr {
			others = append(others, c)
		}
	}
	p.mu.Unlock()
	for _, c := range others {
		c.Abandon(err, matches)
	}
}

// Reset ends all connections, so that the next calls open new ones with a new Hello.
func (p *Pool) Reset() {
	p.mu.Lock()
	conns := slices.Collect(maps.Values(p.conns)) // unordered: all are ended
	clear(p.conns)
	p.mu.Unlock()
	endAll(conns)
}

// Close ends all connections for good.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	conns := slices.Collect(maps.Values(p.conns)) // unordered: all are ended
	p.mu.Unlock()
	endAll(conns)
	p.wg.Wait()
}

// endAll ends connections. The pool's lock is not held: a caller that waits on a connection may use the pool when its
// call fails, like a read that asks another voter.
func endAll(conns []*Conn) {
	for _, c := range conns {
		c.close(net.ErrClosed)
	}
}
