package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var errNackRetry = reply.Error("ERR Invalid RETRYCOUNT option argument for XNACK")

// nack holds the options of XNACK, which gives entries back.
type nack struct {
	silent, fatal, force bool
	retries              int64 // the new count, -1 where not given
	ids                  []keyspace.StreamID
}

func readNack(a *Args) (p nack) {
	p.retries = -1
	switch {
	case a.Word("SILENT"):
		p.silent = true
	case a.Word("FATAL"):
		p.fatal = true
	case a.Word("FAIL"):
	default:
		a.Fail(ErrSyntax)
	}
	if !a.Word("IDS") {
		a.Fail(ErrSyntax)
	}
	if a.bad {
		return p
	}
	p.ids = a.countedIDs()
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("FORCE"):
			p.force = true
		case a.Left() > 1 && a.Word("RETRYCOUNT"):
			p.retries = a.notNegative(errNackRetry)
		default:
			a.Fail(ErrSyntax)
		}
	}
	return p
}

// count returns the delivery count of an entry after XNACK, from that before.
func (n *nack) count(before int64) int64 {
	switch {
	case n.retries >= 0:
		return n.retries
	case n.fatal:
		return math.MaxInt64
	case n.silent:
		return max(before-1, 0)
	}
	return before
}

func xNack(tx *Tx, a *Args) reply.Value {
	key, group := a.Bytes(), a.Bytes()
	p := readNack(a)
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
	n := int64(0)
	for _, id := range p.ids {
		q, pending := g.FindPending(id)
		if !pending {
			if _, found := e.data.Get(id); !found || !p.force {
				continue
			}
		}
		g = e.write().Own(g.Name)
		g.Release(id, p.count(q.Count))
		n++
	}
	e.end(1, StreamEvent)
	return reply.Int(n)
}
