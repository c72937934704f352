package keyspace

import "github.com/trireme-dev/trireme/fsm/cow"

// Pending is the number of entries that were delivered and not acknowledged.
func (g *StreamGroup) Pending() int { return g.pending.Len() }

// Pending is the number of entries that the consumer did not acknowledge.
func (c *StreamConsumer) Pending() int { return c.pending.Len() }

func (g *StreamGroup) findPending(id StreamID) (i int, ok bool) {
	i = g.pending.Search(func(p StreamPending) bool { return p.ID.Compare(id) < 0 })
	return i, i < g.pending.Len() && g.pending.At(i).ID == id
}

// FindPending returns the pending entry of an ID.
func (g *StreamGroup) FindPending(id StreamID) (p StreamPending, ok bool) {
	i, ok := g.findPending(id)
	if !ok {
		return p, false
	}
	return g.pending.At(i), true
}

// EachPending calls f for what is pending from an ID on, in order, until it returns
// false. f must not change the group.
func (g *StreamGroup) EachPending(from StreamID, f func(p StreamPending) bool) {
	g.pending.Ascend(g.PendingFrom(from), func(_ int, p StreamPending) bool { return f(p) })
}

// PendingFrom is the position of the first that is pending from an ID on.
func (g *StreamGroup) PendingFrom(id StreamID) int {
	i, _ := g.findPending(id)
	return i
}

// PendingAt returns the pending entry at a position; 0 <= i < Pending.
func (g *StreamGroup) PendingAt(i int) StreamPending { return g.pending.At(i) }

// EachPendingOf calls f for what is pending of one consumer, as EachPending does.
func (g *StreamGroup) EachPendingOf(c *StreamConsumer, from StreamID, f func(p StreamPending) bool) {
	start, _ := findID(c.pending, from)
	c.pending.Ascend(start, func(_ int, id StreamID) bool {
		p, _ := g.FindPending(id)
		return f(p)
	})
}

func findID(ids *cow.Sequence[StreamID], id StreamID) (i int, ok bool) {
	i = ids.Search(func(other StreamID) bool { return other.Compare(id) < 0 })
	return i, i < ids.Len() && ids.At(i) == id
}

// Assign records that an entry is pending with c, a consumer of g that may be changed,
// whoever had it before.
func (g *StreamGroup) Assign(c *StreamConsumer, id StreamID, delivered, count int64) {
	p := StreamPending{ID: id, Consumer: c.Name, Delivered: delivered, Count: count}
	i, had := g.findPending(id)
	if !had {
		g.pending.Insert(i, p)
		g.version.size += pendingCost
		c.add(id)
		return
	}
	if before := g.pending.At(i); before.Unowned {
		c.add(id)
	} else if before.Consumer != c.Name {
		g.forget(before.Consumer, id)
		c.add(id)
	}
	g.pending.Set(i, p)
}

func (c *StreamConsumer) add(id StreamID) {
	i, _ := findID(c.pending, id)
	c.pending.Insert(i, id)
}

// forget takes an ID out of a consumer's list.
func (g *StreamGroup) forget(consumer string, id StreamID) {
	i, _ := g.findConsumer(consumer)
	c := g.ownConsumer(i)
	j, _ := findID(c.pending, id)
	c.pending.Delete(j)
}

// Acknowledge removes what is pending of an ID and reports whether something was.
func (g *StreamGroup) Acknowledge(id StreamID) bool {
	i, ok := g.findPending(id)
	if !ok {
		return false
	}
	if p := g.pending.Delete(i); !p.Unowned {
		g.forget(p.Consumer, id)
	}
	g.version.size -= pendingCost
	return true
}

// Release records that an entry is pending with no consumer, whoever had it before. It counts
// as delivered at time 0, so that any claim may take it.
func (g *StreamGroup) Release(id StreamID, count int64) {
	p := StreamPending{ID: id, Count: count, Unowned: true}
	i, had := g.findPending(id)
	if !had {
		g.pending.Insert(i, p)
		g.version.size += pendingCost
		return
	}
	if before := g.pending.At(i); !before.Unowned {
		g.forget(before.Consumer, id)
	}
	g.pending.Set(i, p)
}

// Forget removes what is pending of an ID in every group.
func (sl *StreamLog) Forget(id StreamID) {
	for i := range sl.groups.Len() {
		if _, ok := sl.groups.At(i).findPending(id); ok {
			sl.own(i).Acknowledge(id)
		}
	}
}

// Referenced reports whether some group still has to do with an ID: it was not delivered
// to the group yet, or not acknowledged.
func (sl *StreamLog) Referenced(id StreamID) (referenced bool) {
	sl.EachGroup(func(g *StreamGroup) bool {
		_, pending := g.findPending(id)
		referenced = pending || id.Compare(g.Last) > 0
		return !referenced
	})
	return referenced
}

// ReadByAll is the ID up to which entries were delivered to every group, the greatest
// there can be without groups.
func (sl *StreamLog) ReadByAll() StreamID {
	least := MaxStreamID
	sl.EachGroup(func(g *StreamGroup) bool {
		if g.Last.Compare(least) < 0 {
			least = g.Last
		}
		return true
	})
	return least
}
