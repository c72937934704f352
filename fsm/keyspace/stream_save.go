package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Encode writes the counters, the entries, the groups, and what is remembered of additions if
// anything ever was, all in order.
func (sl *StreamLog) Encode(w *wire.Writer) {
	writeID(w, StreamID{}, sl.last)
	writeID(w, StreamID{}, sl.deleted)
	w.Varint(sl.added)
	w.Uvarint(uint64(sl.Len()))
	before := StreamID{}
	sl.Ascend(0, func(e StreamEntry) bool {
		writeID(w, before, e.ID)
		w.String(e.packed)
		before = e.ID
		return true
	})
	w.Uvarint(uint64(sl.Groups()))
	sl.EachGroup(func(g *StreamGroup) bool {
		g.encode(w)
		return true
	})
	w.Bool(true) // a record that is cut reads as zeros
	if sl.idempotence != nil {
		sl.idempotence.encode(w)
	}
}

// writeID writes id, which is not below before: most have a time close to it.
func writeID(w *wire.Writer, before, id StreamID) {
	w.Uvarint(id.Ms - before.Ms)
	w.Uvarint(id.Seq)
}

func readID(r *wire.Reader, before StreamID) StreamID {
	return StreamID{before.Ms + r.Uvarint(), r.Uvarint()}
}

// encode writes a group; what is pending names its consumer by its place, one place after the
// last if it has no consumer.
func (g *StreamGroup) encode(w *wire.Writer) {
	w.String(g.Name)
	writeID(w, StreamID{}, g.Last)
	w.Varint(g.Read)
	w.Uvarint(uint64(g.Consumers()))
	g.EachConsumer(func(c *StreamConsumer) bool {
		w.String(c.Name)
		w.Varint(c.Seen)
		w.Varint(c.Active)
		return true
	})
	w.Uvarint(uint64(g.Pending()))
	before := StreamID{}
	g.EachPending(before, func(p StreamPending) bool {
		writeID(w, before, p.ID)
		i := g.Consumers()
		if !p.Unowned {
			i, _ = g.findConsumer(p.Consumer)
		}
		w.Uvarint(uint64(i))
		w.Varint(p.Delivered)
		w.Varint(p.Count)
		before = p.ID
		return true
	})
}

// decodeStream reads what Encode wrote. It is not ok if entries, groups, consumers or
// what is pending are out of order or contradict one another.
func decodeStream(r *wire.Reader) (Container, bool) {
	s := NewStreamLog()
	s.last, s.deleted = readID(r, StreamID{}), readID(r, StreamID{})
	s.added = r.Varint()
	if s.added < 0 || !s.readEntries(r) {
		return nil, false
	}
	for range r.Count(4) {
		g, ok := s.readGroup(r)
		if i := s.groups.Len(); !ok || i > 0 && s.groups.At(i-1).Name >= g.Name {
			return nil, false
		}
		s.groups.Insert(s.groups.Len(), g)
		s.version.size += g.size()
	}
	if !r.Bool() || r.Err() != nil {
		return nil, false
	}
	return s, r.Len() == 0 || s.readIdempotence(r)
}

func (sl *StreamLog) readEntries(r *wire.Reader) bool {
	before := StreamID{}
	for range r.Count(3) {
		if r.Len() == 0 {
			return false
		}
		e := StreamEntry{ID: readID(r, before), packed: r.String()}
		if e.ID.Compare(before) <= 0 || !e.whole() {
			return false
		}
		sl.entries.insert(sl.entries.len(), e.text())
		sl.version.size += e.size()
		before = e.ID
	}
	return before.Compare(sl.last) <= 0
}

// whole reports whether the words of an entry fill it, in pairs.
func (e StreamEntry) whole() bool {
	words, ok := 0, true
	for rest := e.packed; rest != "" && ok; words++ {
		_, rest, ok = cutWord(rest)
	}
	return ok && words > 0 && words%2 == 0
}

func (sl *StreamLog) readGroup(r *wire.Reader) (*StreamGroup, bool) {
	g := &StreamGroup{Name: r.String(), Last: readID(r, StreamID{}), Read: r.Varint(), version: sl.version,
		pending: cow.NewSequence[StreamPending](), consumers: cow.NewSequence[*StreamConsumer]()}
	if g.Read < UnknownRead {
		return nil, false
	}
	for i := range r.Count(3) {
		c := &StreamConsumer{Name: r.String(), Seen: r.Varint(), Active: r.Varint(), version: sl.version, pending: cow.NewSequence[StreamID]()}
		if i > 0 && g.consumers.At(i-1).Name >= c.Name || r.Err() != nil {
			return nil, false
		}
		g.consumers.Insert(i, c)
	}
	return g, g.readPending(r)
}

func (g *StreamGroup) readPending(r *wire.Reader) bool {
	before := StreamID{}
	for i := range r.Count(5) {
		if r.Len() == 0 {
			return false
		}
		p := StreamPending{ID: readID(r, before)}
		consumer := r.Uvarint()
		p.Delivered, p.Count = r.Varint(), r.Varint()
		if r.Err() != nil || i > 0 && p.ID.Compare(before) <= 0 || consumer > uint64(g.consumers.Len()) {
			return false
		}
		if p.Unowned = consumer == uint64(g.consumers.Len()); !p.Unowned {
			c := g.consumers.At(int(consumer))
			p.Consumer = c.Name
			c.pending.Insert(c.pending.Len(), p.ID)
		}
		g.pending.Insert(i, p)
		before = p.ID
	}
	return r.Err() == nil
}
