package resp

import (
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/audit"
	"github.com/trireme-dev/trireme/internal/observe/stats"
)

// traffic counts bytes over all connections, and refused connections.
type traffic struct{ in, out, refused atomic.Int64 }

// count returns the statistics of a database's connections; the byte counts are those of
// all databases.
func (s *Server) count(db string) stats.Clients {
	n := stats.Clients{
		Received: int64(s.lastID.Load()), Rejected: s.traffic.refused.Load(), In: s.traffic.in.Load(), Out: s.traffic.out.Load(),
		MostConnections: int64(s.limits.Connections), TrackedKeys: s.tracker.tracked.Load(),
	}
	one := func(to *int64, is bool) {
		if is {
			*to++
		}
	}
	s.clients.each(func(c *conn) {
		if c.info.database() != db {
			return
		}
		t := c.info.get()
		n.Connected++
		one(&n.Blocked, c.info.blocked.Load() != nil)
		one(&n.Subscribed, t.subs+t.psubs+t.ssubs > 0)
		one(&n.Watching, t.watches > 0)
		one(&n.Tracking, t.tracks)
		n.WatchedKeys += int64(t.watches)
	})
	return n
}

// countCalls counts calls that were answered.
func (c *conn) countCalls(rows [][][]byte, values []reply.Value, took time.Duration) {
	by := stats.Caller{Addr: c.info.addr}
	if took > time.Millisecond { // only a call for the slow log needs it
		by.Name = c.info.get().name
	}
	c.s.stats.In(c.database()).Batch(c.s.table, rows, values, took, by)
	c.s.audit.Commands(c.caller(), rows, values)
}

// caller identifies the connection in the audit log.
func (c *conn) caller() audit.Caller { return audit.Caller{As: c.as, From: c.info.addr} }

// auditFailure records administrative commands that failed as a whole or were refused.
func (c *conn) auditFailure(rows [][][]byte, why reply.Value) {
	c.s.audit.Unanswered(c.caller(), rows, why)
}

// countOwn counts a call of a command about the connection.
func (c *conn) countOwn(row *command.Command, argv [][]byte, began time.Time) {
	if row.Name != "exec" && c.as.Known() { // EXEC counts what it runs
		c.countCalls([][][]byte{argv}, []reply.Value{reply.OK()}, time.Since(began))
	}
}
