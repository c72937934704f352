package resp

import (
	"slices"
	"time"
)

// Connection describes an open connection to operators.
type Connection struct {
	ID                       uint64 // on this node: that of CLIENT ID is one in the database
	Addr, Name               string
	Database, User, LastCall string
	Age, Idle                time.Duration
}

// Connections returns the open connections of all databases, by their ids.
func (s *Server) Connections() []Connection {
	var list []Connection
	now := time.Now()
	s.clients.each(func(c *conn) {
		t := c.info.get()
		list = append(list, Connection{
			ID: c.info.number, Addr: c.info.addr, Name: t.name, Database: c.info.database(), User: t.user, LastCall: c.info.command(),
			Age: now.Sub(c.info.opened), Idle: max(0, now.Sub(time.UnixMilli(c.info.active.Load()))),
		})
	})
	slices.SortFunc(list, func(a, b Connection) int { return int(a.ID) - int(b.ID) })
	return list
}

// CloseConnection closes the connection of an id, and reports whether there was one.
func (s *Server) CloseConnection(id uint64) (found bool) {
	s.clients.each(func(c *conn) {
		if c.info.number == id {
			c.kill()
			found = true
		}
	})
	return found
}
