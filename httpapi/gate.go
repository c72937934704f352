package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"trireme/httpapi/redis"
)

// gate counts connections. One that is over a limit is let in as far as its first
// request, so that it gets an answer that says why; when too many of those are there,
// further ones are closed at once.
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
func (g *gate) leave(ip string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.total--
	if g.byIP[ip]--; g.byIP[ip] == 0 {
		delete(g.byIP, ip)
	}
}

// left is leave for a connection that was refused.
func (g *gate) left() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over--
}

// gatedListener counts the connections that it accepts, and refuses what is too many.
type gatedListener struct {
	net.Listener
	gate    *gate
	outcome []string // the header's names
}

// Accept waits for the next connection for which there is room.
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
		switch refusal, room := l.gate.enter(ip); {
		case refusal == nil:
			return &gatedConn{Conn: c, gate: l.gate, ip: ip}, nil
		case room:
			go l.refuse(c, refusal) // ends with refusalTime
		default:
			c.Close()
		}
	}
}

// The bounds of telling a client that there is no room.
const (
	refusalTime  = 2 * time.Second
	refusalBytes = 64 << 10
)

// refuse answers a connection's first request, whatever it is, and closes.
func (l *gatedListener) refuse(c net.Conn, f *failure) {
	defer l.gate.left()
	defer c.Close()
	if c.SetDeadline(time.Now().Add(refusalTime)) != nil {
		return
	}
	head := bufio.NewReader(io.LimitReader(c, refusalBytes))
	for {
		if line, err := head.ReadSlice('\n'); err != nil || len(line) <= len("\r\n") {
			break // the end of the header, or there is none
		}
	}
	if _, err := c.Write(closing(l.outcome, f)); err != nil {
		return
	}
	// What is still on its way would make the close a reset, which can take the answer
	// with it.
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(c, refusalBytes))
	}
}

// closing is a whole reply for a connection that is closed behind it.
func closing(outcomeNames []string, f *failure) []byte {
	body := redis.AppendError(nil, f.text)
	reply := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n",
		f.status, http.StatusText(f.status), len(body))
	if f.status == http.StatusServiceUnavailable {
		reply = append(reply, "Retry-After: 1\r\n"...)
	}
	for _, name := range outcomeNames {
		reply = fmt.Appendf(reply, "%s: %s\r\n", name, f.outcome)
	}
	return append(append(reply, "\r\n"...), body...)
}

// gatedConn is a counted connection.
type gatedConn struct {
	net.Conn
	gate *gate
	ip   string
	once sync.Once
}

// Close closes the connection and makes room for another.
func (c *gatedConn) Close() error {
	c.once.Do(func() { c.gate.leave(c.ip) })
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
