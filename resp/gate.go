package resp

import (
	"net"
	"sync"
	"time"
)

// gate counts connections.
type gate struct {
	max, perIP int
	mu         sync.Mutex
	total      int
	byIP       map[string]int
}

func newGate(l Limits) *gate {
	return &gate{max: l.Connections, perIP: l.ConnectionsPerIP, byIP: map[string]int{}}
}

// enter counts a connection, unless it is one too many.
func (g *gate) enter(ip string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if (g.max > 0 && g.total >= g.max) || (g.perIP > 0 && g.byIP[ip] >= g.perIP) {
		return false
	}
	g.total++
	g.byIP[ip]++
	return true
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

// addressOf is the address of a connection's other end without its port.
func addressOf(nc net.Conn) string {
	addr := nc.RemoteAddr().String()
	if ip, _, err := net.SplitHostPort(addr); err == nil {
		return ip
	}
	return addr
}

// refuse tells a client that there is no room, if it can be told without waiting. Over
// TLS it would have to shake hands first.
func (s *Server) refuse(nc net.Conn) {
	defer nc.Close()
	if s.tls == nil && nc.SetWriteDeadline(time.Now().Add(time.Millisecond)) == nil {
		// An error means that the client has gone already.
		_, _ = nc.Write([]byte("-" + textMaxClients + "\r\n"))
	}
}
