package resp

import (
	"net"

	"github.com/trireme-dev/trireme/internal/socket"
)

// Drain has clients leave before Shutdown, without an error: each connection that is open now ends together with the
// reply to its next command, at a moment at which it holds nothing on this node but its user. The reply and the end
// arrive at once, so a client that examines a connection before it uses it, as pools do, opens another one. Connections
// without a command in the meantime, and those that are opened from now on, stay until Shutdown.
func (s *Server) Drain() { s.leaving.Store(s.lastID.Load()) }

// leaves reports whether Drain asked this connection to end.
func (c *conn) leaves() bool { return c.info.number <= c.s.leaving.Load() }

// mayLeave reports whether the connection may end after the round that was answered: no command is waiting, and the
// next one can run on another node. After a command about the connection itself, such as AUTH or PING, the client
// counts on it.
func (c *conn) mayLeave() bool {
	last := c.info.last.Load()
	return c.answered > 0 && len(c.in.rest()) == 0 && last != nil && last.Group() != "connection" && c.as.Known() && !c.tx.open && len(c.tx.watch.Keys) == 0 &&
		!c.silent && !c.skipNext && c.subscriber == nil && c.monitoring == nil
}

// holdReplies corks the socket: replies stay in the kernel until the end of the round, so that the connection's end can go
// with them.
func (c *conn) holdReplies() {
	if !c.corked {
		c.corked = true
		socket.Cork(c.tcp(), true)
	}
}

// releaseReplies sends the replies that holdReplies has kept back.
func (c *conn) releaseReplies() {
	if c.corked {
		c.corked = false
		socket.Cork(c.tcp(), false)
	}
}

// tcp returns the connection below TLS.
func (c *conn) tcp() net.Conn {
	nc := c.nc
	for {
		outer, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = outer.NetConn()
	}
}

// endWriting tells the client that no more replies come. Without it the replies would be lost if the client had sent
// more by then: the kernel resets a connection that is closed with unread input.
func (c *conn) endWriting() {
	for _, nc := range []net.Conn{c.nc, c.tcp()} {
		if half, ok := nc.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // an error means that the connection is closed
		}
	}
}
