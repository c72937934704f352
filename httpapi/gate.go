package httpapi

import (
	"context"
	"net"
	"sync"
)

// gate counts connections. One that is over a limit is let in as far as its first
// request, so that it gets an answer that says why; when too many of those wait, further
// ones are closed at once.
type gate struct {
	limits Limits
	mu     sync.Mutex
	total  int
	byIP   map[string]int
	over   int // connections that are in to be refused
}

// newGate is nil if no limit of connections is set.
func newGate(l Limits) *gate {
	if l.Connections <= 0 && l.ConnectionsPerIP <= 0 {
		return nil
	}
	return &gate{limits: l, byIP: map[string]int{}}
}

// maxRefused is the most connections that wait to be told that there is no room.
const maxRefused = 64

// enter counts a connection. refusal says why it is over a limit; without room it isn't
// even let in to be refused.
func (g *gate) enter(ip string) (refusal *failure, room bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch total, own := g.total+1, g.byIP[ip]+1; {
	case g.limits.Connections > 0 && total > g.limits.Connections:
		refusal = exceeded("max connections", "max-connections", g.limits.Connections, total)
	case g.limits.ConnectionsPerIP > 0 && own > g.limits.ConnectionsPerIP:
		refusal = exceeded("max connections of one address", "max-connections-per-ip", g.limits.ConnectionsPerIP, own)
	default:
		g.total, g.byIP[ip] = total, own
		return nil, true
	}
	if g.over >= maxRefused {
		return refusal, false
	}
	g.over++
	return refusal, true
}

// leave ends what enter has counted.
func (g *gate) leave(ip string, refused bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if refused {
		g.over--
		return
	}
	g.total--
	if g.byIP[ip]--; g.byIP[ip] == 0 {
		delete(g.byIP, ip)
	}
}

// gatedListener counts the connections that it accepts.
type gatedListener struct {
	net.Listener
	gate *gate
}

// Accept waits for the next connection that is let in.
func (l *gatedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		ip, _, err := net.SplitHostPort(c.RemoteAddr().String())
		if err != nil {
			ip = c.RemoteAddr().String()
		}
		refusal, room := l.gate.enter(ip)
		if room {
			return &gatedConn{Conn: c, gate: l.gate, ip: ip, refusal: refusal}, nil
		}
		c.Close()
	}
}

// gatedConn is a counted connection.
type gatedConn struct {
	net.Conn
	gate    *gate
	ip      string
	refusal *failure
	once    sync.Once
}

// Close closes the connection and makes room for another.
func (c *gatedConn) Close() error {
	c.once.Do(func() { c.gate.leave(c.ip, c.refusal != nil) })
	return c.Conn.Close()
}

// CloseWrite ends the server's half, so that a client which still sends gets to read the
// answer.
func (c *gatedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type refusalKey struct{}

// connContext hands the refusal of a connection to its requests.
func connContext(ctx context.Context, c net.Conn) context.Context {
	if g, ok := c.(*gatedConn); ok && g.refusal != nil {
		return context.WithValue(ctx, refusalKey{}, g.refusal)
	}
	return ctx
}

// overConnections is the refusal of a request whose connection is over a limit.
func (c *call) overConnections() *failure {
	if c.s.gate == nil {
		return nil
	}
	refusal, _ := c.r.Context().Value(refusalKey{}).(*failure)
	return refusal
}
