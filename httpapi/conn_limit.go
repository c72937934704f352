package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/httpapi/redis"
	"github.com/trireme-dev/trireme/internal/connlimit"
)

// maxRefused is the most connections that wait to be told that there is no room; further ones
// are closed at once.
const maxRefused = 64

// limitedListener counts the connections that it accepts. If there is no room for one, its first request gets an answer
// that says so, unless that request shows the admin token.
type limitedListener struct {
	net.Listener
	server  *Server
	refused atomic.Int32 // connections that are in to be refused
}

// Accept waits for the next connection for which there is room.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &limitedConn{Conn: nc}
		limiter, addr := l.server.connLimit, connlimit.AddressOf(nc)
		slot, reason := limiter.Enter(addr, func() { nc.Close() })
		if reason == connlimit.Admitted {
			c.slot = slot
			return c, nil
		}
		if l.refused.Add(1) > maxRefused {
			l.refused.Add(-1)
			nc.Close()
			continue
		}
		limits := limiter.Limits()
		refusal := exceeded("max connections", "max-connections", limits.Total, limits.Total+1)
		if reason == connlimit.AddressFull {
			refusal = exceeded("max connections of one address", "max-connections-per-ip", limits.PerAddress, limiter.OpenOf(addr)+1)
		}
		go l.refuse(c, addr, refusal) // ends with refusalTime
	}
}

// The bounds of the answer to a client for which there is no room.
const (
	refusalTime  = 2 * time.Second
	refusalBytes = 64 << 10
)

// refuse answers a connection's first request, whatever it is, and closes. A request with the
// admin token is served, in the reserve for it.
func (l *limitedListener) refuse(c *limitedConn, addr string, f *failure) {
	defer l.refused.Add(-1)
	if c.SetDeadline(time.Now().Add(refusalTime)) != nil {
		c.Close()
		return
	}
	read := &bytes.Buffer{}
	head := bufio.NewReader(io.TeeReader(io.LimitReader(c.Conn, refusalBytes), read))
	r, err := http.ReadRequest(head)
	if err == nil && l.server.showsAdminToken(r) && c.SetDeadline(time.Time{}) == nil {
		if c.slot = l.server.connLimit.EnterAdmin(addr, func() { c.Conn.Close() }); c.slot != nil {
			c.rest = read.Bytes()
			l.server.fastPath.ServeConn(c)
			return
		}
	}
	defer c.Close()
	if _, err := c.Write(closing(l.server.names.outcome, f)); err != nil {
		return
	}
	// Bytes that are still on their way would make the close a reset, which can destroy the answer.
	if c.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(c.Conn, refusalBytes))
	}
}

// showsAdminToken reports whether a request has the admin token, as far as this node knows:
// a full node asks no other one for strangers.
func (s *Server) showsAdminToken(r *http.Request) bool {
	_, query := redis.CutTarget(r.RequestURI)
	return s.localRole(appendCredential(nil, r, query)) == acl.Admin
}

// closing returns a whole reply for a connection that is closed after it.
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

// limitedConn is a counted connection.
type limitedConn struct {
	net.Conn
	slot *connlimit.Slot
	rest []byte // read already
}

// Read reads what was read already, then the connection.
func (c *limitedConn) Read(b []byte) (int, error) {
	if len(c.rest) > 0 {
		n := copy(b, c.rest)
		c.rest = c.rest[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// Close closes the connection and makes room for another.
func (c *limitedConn) Close() error {
	c.slot.Leave()
	return c.Conn.Close()
}

// CloseWrite ends the server's half, so that a client which still sends gets to read the
// answer.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Socket returns the plain connection below, which may be read and written in place of this one; nil
// if there is more to it.
func (c *limitedConn) Socket() net.Conn {
	if plain, ok := c.Conn.(*net.TCPConn); ok && len(c.rest) == 0 {
		return plain
	}
	return nil
}

// Busy and Idle say whether the connection is being answered.
func (c *limitedConn) Busy() { c.slot.Busy() }

// Idle says that the connection waits for a request.
func (c *limitedConn) Idle() { c.slot.Idle() }

// HasLoggedIn reports whether the connection has shown a token that opens something.
func (c *limitedConn) HasLoggedIn() bool { return c.slot.HasLoggedIn() }

// slotKey is the key of a connection's slot in the contexts of its requests.
type slotKey struct{}

// withSlot puts a connection's slot into a context.
func withSlot(ctx context.Context, c net.Conn) context.Context {
	if n := limitedOf(c); n != nil {
		return context.WithValue(ctx, slotKey{}, n.slot)
	}
	return ctx
}

func limitedOf(c net.Conn) *limitedConn {
	if below, ok := c.(interface{ Below() net.Conn }); ok {
		c = below.Below()
	}
	n, _ := c.(*limitedConn)
	return n
}

// noteState tells the limiter whether a connection of net/http is being answered.
func noteState(c net.Conn, state http.ConnState) {
	n := limitedOf(c)
	switch {
	case n == nil:
	case state == http.StateActive:
		n.Busy()
	case state == http.StateIdle:
		n.Idle()
	}
}

// loggedIn says that the connection of a request has shown a token that opens something.
func loggedIn(ctx context.Context) {
	slot, _ := ctx.Value(slotKey{}).(*connlimit.Slot)
	slot.LoggedIn()
}
