package command

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// pendingQuery is the words of XPENDING's long form.
type pendingQuery struct {
	minIdle    int64 // milliseconds
	start, end keyspace.StreamID
	count      int64
	consumer   []byte // nil for all
}

// maxPendingWords is the largest number of words that Redis accepts with XPENDING; without
// IDLE it ignores the surplus ones.
const maxPendingWords = 9

func readPendingQuery(a *Args) (p pendingQuery) {
	if n := len(a.argv); n < 6 || n > maxPendingWords {
		a.Fail(ErrSyntax)
		return p
	}
	if a.Word("IDLE") {
		if p.minIdle = a.Int(); len(a.argv) < 8 {
			a.Fail(ErrSyntax)
			return p
		}
	}
	from, to := a.Bytes(), a.Bytes()
	p.count = a.Int()
	p.start = a.startID(from)
	p.end = a.endID(to)
	if a.Left() > 0 {
		p.consumer = a.Bytes()
	}
	a.Rest()
	return p
}

func xPending(tx *Tx, a *Args) reply.Value {
	key, group := a.Bytes(), a.Bytes()
	short := a.Left() == 0
	var p pendingQuery
	if !short {
		p = readPendingQuery(a)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	_, s, ok := find[*keyspace.StreamLog](tx, key)
	if !ok {
		return ErrWrongType
	}
	g := s.Group(keyspace.Alias(group))
	switch {
	case g == nil:
		return errNoGroup(key, group, "")
	case short:
		return pendingSummary(g)
	}
	return p.find(tx, g)
}

// pendingSummary is the number of entries that are pending, the first and the last ID,
// and the consumers that have any with how many.
func pendingSummary(g *keyspace.StreamGroup) reply.Value {
	n := g.Pending()
	if n == 0 {
		return reply.Array(reply.Int(0), reply.Nil(), reply.Nil(), reply.NilArray())
	}
	var consumers []reply.Value
	g.EachConsumer(func(c *keyspace.StreamConsumer) bool {
		if c.Pending() > 0 {
			consumers = append(consumers, reply.Array(reply.Bulk(c.Name), reply.Bulk(strconv.Itoa(c.Pending()))))
		}
		return true
	})
	return reply.Array(reply.Int(int64(n)), shownID(g.PendingAt(0).ID), shownID(g.PendingAt(n-1).ID), reply.Array(consumers...))
}

func (pq *pendingQuery) find(tx *Tx, g *keyspace.StreamGroup) reply.Value {
	var found []reply.Value
	now := tx.Now
	take := func(q keyspace.StreamPending) bool {
		if int64(len(found)) >= pq.count || q.ID.Compare(pq.end) > 0 || tx.lookAt(1) {
			return false
		}
		if pq.minIdle == 0 || now-q.Delivered >= pq.minIdle {
			idle := max(now-q.Delivered, 0)
			if q.Unowned {
				idle = -1
			}
			found = append(found, reply.Array(shownID(q.ID), reply.Bulk(q.Consumer), reply.Int(idle), reply.Int(q.Count)))
		}
		return true
	}
	if pq.consumer == nil {
		g.EachPending(pq.start, take)
	} else if c := g.Consumer(keyspace.Alias(pq.consumer)); c != nil {
		g.EachPendingOf(c, pq.start, take)
	}
	return reply.Array(found...)
}
