package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errClaimIdle     = reply.Error("ERR Invalid min-idle-time argument for XCLAIM")
	errClaimIdleOpt  = reply.Error("ERR Invalid IDLE option argument for XCLAIM")
	errClaimTime     = reply.Error("ERR Invalid TIME option argument for XCLAIM")
	errClaimRetry    = reply.Error("ERR Invalid RETRYCOUNT option argument for XCLAIM")
	errAutoClaimIdle = reply.Error("ERR Invalid min-idle-time argument for XAUTOCLAIM")
	errAutoClaimMany = reply.Error("ERR COUNT must be > 0")
	errAutoClaimRoom = reply.Error("ERR Insufficient memory, failed allocating transient memory, COUNT too high.")
)

// claim holds the options of XCLAIM and XAUTOCLAIM, which take over pending entries.
type claim struct {
	minIdle   int64 // milliseconds
	delivered int64 // the new time of delivery
	retries   int64 // the new count, -1 to count this delivery
	justID    bool
	force     bool
	last      keyspace.StreamID
}

// take gives an entry to a consumer and shows it.
func (cl *claim) take(tx *Tx, g *keyspace.StreamGroup, c *keyspace.StreamConsumer, e keyspace.StreamEntry, count int64) reply.Value {
	switch {
	case cl.retries >= 0:
		count = cl.retries
	case !cl.justID:
		count = deliveredAgain(tx, count)
	}
	g.Assign(c, e.ID, cl.delivered, count)
	c.Active = tx.Now
	if cl.justID {
		return shownID(e.ID)
	}
	return shownEntry(e)
}

// deliveredAgain counts a delivery. A count that XNACK has set to the largest stays there.
func deliveredAgain(tx *Tx, count int64) int64 {
	if count == math.MaxInt64 {
		return count
	}
	return count + 1
}

// fresh reports whether an entry was delivered too lately to be taken.
func (cl *claim) fresh(q keyspace.StreamPending, now int64) bool {
	return cl.minIdle > 0 && now-q.Delivered < cl.minIdle
}

// readIDs reads words as IDs up to the first that is none.
func (a *Args) readIDs() (ids []keyspace.StreamID) {
	for a.Left() > 0 && !a.bad {
		id, _, ok := parseStreamID(a.argv[a.at], 0, false)
		if !ok {
			break
		}
		a.at++
		ids = append(ids, id)
	}
	return ids
}

// options reads those of XCLAIM.
func (cl *claim) options(a *Args, now int64) {
	for a.Left() > 0 && !a.bad {
		switch more := a.Left() > 1; {
		case a.Word("FORCE"):
			cl.force = true
		case a.Word("JUSTID"):
			cl.justID = true
		case more && a.Word("IDLE"):
			cl.delivered = now - a.IntOr(errClaimIdleOpt)
		case more && a.Word("TIME"):
			cl.delivered = a.IntOr(errClaimTime)
		case more && a.Word("RETRYCOUNT"):
			cl.retries = max(a.IntOr(errClaimRetry), -1)
		case more && a.Word("LASTID"):
			cl.last = a.streamID()
		default:
			a.Fail(reply.Error("ERR Unrecognized XCLAIM option '" + shown(a.String()) + "'"))
		}
	}
	if cl.delivered < 0 || cl.delivered > now { // clients compute it from clocks of their own
		cl.delivered = now
	}
}

// forcedCount is the delivery count of an entry before FORCE claims it.
const forcedCount = 1

func xClaim(tx *Tx, a *Args) reply.Value {
	key, group, consumer := a.Bytes(), a.Bytes(), a.Bytes()
	e, ok := look(tx, key, keyspace.NewStreamLog)
	if !ok {
		return ErrWrongType
	}
	g := e.data.Group(keyspace.Alias(group))
	if g == nil {
		return errNoGroup(key, group, "")
	}
	p := claim{minIdle: a.IntOr(errClaimIdle), delivered: tx.Now, retries: -1}
	ids := a.readIDs()
	p.options(a, tx.Now)
	if err, ok := a.Done(); !ok {
		return err
	}
	s := e.write()
	g = s.Own(g.Name)
	if p.last.Compare(g.Last) > 0 {
		g.Last = p.last
	}
	c, made := g.OwnConsumer(keyspace.Alias(consumer), tx.Now)
	c.Seen = tx.Now
	taken := []reply.Value{}
	for _, id := range ids {
		q, pending := g.FindPending(id)
		entry, found := s.Get(id)
		switch {
		case !found:
			g.Acknowledge(id) // its entry has been deleted
		case pending && p.fresh(q, tx.Now), !pending && !p.force:
		case !pending:
			taken = append(taken, p.take(tx, g, c, entry, forcedCount))
		default:
			taken = append(taken, p.take(tx, g, c, entry, q.Count))
		}
	}
	e.end(1, StreamEvent, onlyIf(made, consumerMade)...)
	return reply.Array(taken...)
}

// What XAUTOCLAIM looks at: for each entry asked for at most so many.
const (
	autoClaimCount   = 100
	autoClaimLooks   = 10
	autoClaimMostAll = math.MaxInt64 / 16
	// autoClaimRoom is the COUNT for whose IDs, 16 bytes each, no machine of 48-bit addresses has room: Redis allocates them first.
	autoClaimRoom = 1 << 47 / 16
)

func xAutoClaim(tx *Tx, a *Args) reply.Value {
	key, group, consumer := a.Bytes(), a.Bytes(), a.Bytes()
	p := claim{minIdle: a.IntOr(errAutoClaimIdle), delivered: tx.Now, retries: -1}
	start, count := a.startID(a.Bytes()), int64(autoClaimCount)
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Left() > 1 && a.Word("COUNT"):
			if count = a.IntOr(errAutoClaimMany); count < 1 || count > autoClaimMostAll {
				a.Fail(errAutoClaimMany)
			}
		case a.Word("JUSTID"):
			p.justID = true
		default:
			a.Fail(ErrSyntax)
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	e, ok := look(tx, key, keyspace.NewStreamLog)
	if !ok {
		return ErrWrongType
	}
	g := e.data.Group(keyspace.Alias(group))
	if g == nil {
		return errNoGroup(key, group, "")
	}
	if count > autoClaimRoom {
		return errAutoClaimRoom
	}
	s := e.write()
	g = s.Own(g.Name)
	c, made := g.OwnConsumer(keyspace.Alias(consumer), tx.Now)
	c.Seen = tx.Now
	v := p.sweep(tx, s, g, c, start, count)
	e.end(1, StreamEvent, onlyIf(made, consumerMade)...)
	return v
}

// sweep takes what is idle from an ID on. What is pending of entries that are gone is
// dropped and told.
func (cl *claim) sweep(tx *Tx, s *keyspace.StreamLog, g *keyspace.StreamGroup, c *keyspace.StreamConsumer, start keyspace.StreamID, count int64) reply.Value {
	taken, gone := []reply.Value{}, []reply.Value{}
	i := g.PendingFrom(start)
	for looks := count * autoClaimLooks; looks > 0 && count > 0 && i < g.Pending(); looks-- {
		q := g.PendingAt(i)
		entry, found := s.Get(q.ID)
		switch {
		case !found:
			g.Acknowledge(q.ID)
			gone = append(gone, shownID(q.ID))
			count--
			continue
		case !cl.fresh(q, tx.Now):
			taken = append(taken, cl.take(tx, g, c, entry, q.Count))
			count--
		}
		i++
	}
	next := keyspace.StreamID{}
	if i < g.Pending() {
		next = g.PendingAt(i).ID
	}
	return reply.Array(shownID(next), reply.Array(taken...), reply.Array(gone...))
}
