package resp

import (
	"sync/atomic"
	"time"

	"trireme/audit"
	"trireme/fsm/command"
	"trireme/fsm/reply"
	"trireme/observe/figures"
)

// traffic is what came and went over all connections.
type traffic struct{ in, out, refused atomic.Int64 }

// count says what there is to know of the connections of a database; what came and went is
// that of all.
func (s *Server) count(db string) figures.Clients {
	n := figures.Clients{
		Received: int64(s.lastID.Load()), Rejected: s.traffic.refused.Load(), In: s.traffic.in.Load(), Out: s.traffic.out.Load(),
		MostConnections: int64(s.limits.Connections), TrackedKeys: s.tracker.held.Load(),
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

// report counts calls that were answered.
func (c *conn) report(rows [][][]byte, values []reply.Value, took time.Duration) {
	by := figures.Caller{Addr: c.info.addr}
	if took > time.Millisecond { // only what may be kept needs it
		by.Name = c.info.get().name
	}
	c.s.figures.In(c.database()).Batch(c.s.table, rows, values, took, by)
	c.s.audit.Commands(c.caller(), rows, values)
}

// caller is who gives commands here.
func (c *conn) caller() audit.Caller { return audit.Caller{As: c.as, From: c.info.addr} }

// unanswered records administrative commands that failed as a whole, or were refused before
// anything ran.
func (c *conn) unanswered(rows [][][]byte, why reply.Value) {
	c.s.audit.Unanswered(c.caller(), rows, why)
}

// reportOwn counts a call of a command of the connection's own.
func (c *conn) reportOwn(row *command.Command, argv [][]byte, began time.Time) {
	if row.Name != "exec" && c.as.Known() { // EXEC counts what it runs
		c.report([][][]byte{argv}, []reply.Value{reply.OK()}, time.Since(began))
	}
}
