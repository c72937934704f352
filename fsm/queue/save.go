package queue

import (
	"bytes"
	"errors"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/saving"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// errRecord says that a saved record is damaged, or out of order.
var errRecord = errors.New("queue: malformed record")

// kind is the first byte of a saved record. Kinds are append-only, and records stand in the order of kinds.
type kind byte

const (
	kindHead kind = iota
	kindQueue
	kindFlow
	kindHost
	kindGroup
	kindSchedule
	kindMessage
	kindEvent
	kindDead
	kindDedup
	kindBulk
	kindVolume
	kindTrigger
	kindLine  // before kindMessage
	kindShare // before kindMessage
	kindGathering
	kindPart
	kindStopped
)

// Save emits the store as records; equal stores give equal bytes. Indices are not saved: Load makes them anew.
func (s *Store) Save(emit func(record []byte) error) error { return s.save(&saving.Saver{Emit: emit}) }

// SaveDigests is Save for a hash: digests stand in the place of large payloads, which are not read.
func (s *Store) SaveDigests(emit func(record []byte) error) error {
	return s.save(&saving.Saver{Emit: emit, Digests: true})
}

// SaveReferences is Save for a snapshot: it names the payloads that the keeper has, and adds them to refs.
func (s *Store) SaveReferences(emit func(record []byte) error, refs *wire.References) error {
	return s.save(&saving.Saver{Emit: emit, References: refs})
}

func (s *Store) save(out *saving.Saver) error {
	saving.Put(out, kindHead, func(w *wire.Writer) {
		w.PutRecord(&s.settings)
		w.PutRecord(&s.keys)
		s.putCounters(w)
	})
	saving.Each(out, kindQueue, s.queues.byNo, func(_ uint64, q *Queue, w *wire.Writer) {
		_, doomed := s.queues.deleted.Get(q.no)
		w.Put(q)
		w.Bool(doomed)
	})
	saving.Each(out, kindFlow, s.flows.byNo, func(_ uint64, f *FlowKey, w *wire.Writer) { w.Put(f) })
	saving.Each(out, kindHost, s.hosts, func(name string, h *host, w *wire.Writer) {
		w.String(name)
		w.Uvarint(h.no)
		w.Varint(int64(h.active))
	})
	saving.Each(out, kindGroup, s.groups.byName, func(_ string, g *Group, w *wire.Writer) { w.Put(g) })
	saving.Each(out, kindSchedule, s.schedules.byID, func(_ string, c *Schedule, w *wire.Writer) { w.Put(c) })
	saving.Each(out, kindLine, s.places.shares.lines, func(_ uint64, l line, w *wire.Writer) { w.Put(&l) })
	saving.Each(out, kindShare, s.places.shares.byNo, func(_ uint64, sh *share, w *wire.Writer) { w.Put(sh) })
	saved := map[uint64]bool{} // bodies that several messages have
	saving.Each(out, kindMessage, s.messages, func(_ uint64, m *Message, w *wire.Writer) {
		if m.body != nil && m.body.no != 0 {
			if saved[m.body.no] {
				m = m.withoutBody()
			}
			saved[m.body.no] = true
		}
		_, holds := s.places.holding.Get(member{m.queue, m.Seq})
		w.Put(m)
		w.Bool(holds)
	})
	saving.Each(out, kindEvent, s.events.byNo, func(_ uint64, v *Event, w *wire.Writer) { w.Put(v) })
	saving.Each(out, kindDead, s.dead, func(_ Stamp, d *Dead, w *wire.Writer) { w.Put(d) })
	saving.Each(out, kindDedup, s.dedups.byKey, func(k dedupKey, d dedup, w *wire.Writer) {
		w.Fixed(k[:])
		w.Put(&d.id)
		w.String(d.schedule)
		w.Varint(d.end)
	})
	saving.Each(out, kindBulk, s.bulk.Records(), func(_ uint64, b *BulkAction, w *wire.Writer) { w.Put(b) })
	s.events.past.Ascend(0, func(v *sealed.Volume) bool {
		return saving.Put(out, kindVolume, func(w *wire.Writer) { w.Put(v) })
	})
	saving.Each(out, kindTrigger, s.triggers.byName, func(_ string, t *Trigger, w *wire.Writer) { w.Put(t) })
	saving.Each(out, kindGathering, s.gathered.open, func(seq uint64, n *gathering, w *wire.Writer) {
		w.Uvarint(seq)
		w.Put(n)
	})
	saving.Each(out, kindPart, s.gathered.parts, func(seq uint64, p *part, w *wire.Writer) {
		w.Put(&ID{seq, p.salt})
		w.Uvarint(p.batch)
		w.Bytes(p.line)
	})
	saving.Each(out, kindStopped, s.stopped, func(no uint64, by ID, w *wire.Writer) {
		w.Uvarint(no)
		w.Put(&by)
	})
	return out.Err
}

// putCounters writes the part of the head that comes after settings and keys.
func (s *Store) putCounters(w *wire.Writer) {
	w.Uvarint(s.serial)
	w.Uvarint(s.events.newest)
	w.Uvarint(s.sender.Epoch)
	w.Uvarint(s.sender.Term)
	if s.schedules.ticksFrom != 0 {
		w.Varint(s.schedules.ticksFrom)
	}
}

// Load takes in a record of Save, in a store that is new but for the records before it. It copies what it keeps.
func (s *Store) Load(record []byte) error { return s.LoadReferences(record, nil) }

// LoadReferences is Load for a record of SaveReferences, if refs is not nil: the payloads that it names come from there.
func (s *Store) LoadReferences(record []byte, refs *wire.References) error {
	if len(record) == 0 {
		return errRecord
	}
	r := wire.NewReader(append([]byte(nil), record[1:]...))
	r.Refer(refs)
	switch kind(record[0]) {
	case kindHead:
		s.loadHead(r)
	case kindQueue:
		s.loadQueue(r)
	case kindFlow:
		s.loadFlow(r)
	case kindHost:
		name := r.String()
		s.hosts.Set(name, &host{no: r.Uvarint(), active: int(r.Varint())})
	case kindGroup:
		g := &Group{}
		r.Get(g)
		s.groups.put(g)
		s.memory.fixed += groupCost(g)
	case kindSchedule:
		c := &Schedule{}
		r.Get(c)
		s.scheduleTick(c)
	case kindLine:
		var l line
		r.Get(&l)
		s.places.shares.loadLine(l)
	case kindShare:
		sh := &share{}
		r.Get(sh)
		s.places.shares.load(sh)
	case kindMessage:
		return s.loadMessage(r)
	case kindEvent:
		return s.loadEvent(r)
	case kindDead:
		return s.loadDead(r)
	case kindDedup:
		var k dedupKey
		copy(k[:], r.Fixed(len(k)))
		var d dedup
		r.Get(&d.id)
		d.schedule, d.end = r.String(), r.Varint()
		s.storeDedup(k, d)
	case kindBulk:
		b := &BulkAction{}
		r.Get(b)
		s.bulk.Put(b)
	case kindVolume:
		return s.loadVolume(r)
	case kindTrigger:
		t := &Trigger{}
		r.Get(t)
		if t.Lanes < 1 || t.Lanes > MaxLanes {
			return errRecord
		}
		s.memory.fixed += t.Size()
		s.triggers.put(t)
	case kindGathering:
		return s.loadGathering(r)
	case kindPart:
		return s.loadPart(r)
	case kindStopped:
		var by ID
		no := r.Uvarint()
		r.Get(&by)
		s.stop(no, by)
	default:
		return errRecord
	}
	return r.Done()
}

func (s *Store) loadHead(r *wire.Reader) {
	r.GetRecord(&s.settings)
	r.GetRecord(&s.keys)
	s.serial, s.events.newest = r.Uvarint(), r.Uvarint()
	s.sender = Sender{Epoch: r.Uvarint(), Term: r.Uvarint()}
	if r.Len() > 0 {
		s.schedules.ticksFrom = r.Varint()
	}
}

// IsHead reports whether a record of Save begins a store that is like this one, which is empty, but for the keys, and returns those.
func (s *Store) IsHead(record []byte) (keys Keys, is bool) {
	if len(record) == 0 || kind(record[0]) != kindHead {
		return keys, false
	}
	r := wire.NewReader(record[1:])
	settings := r.Bytes()
	r.GetRecord(&keys)
	rest := r.Rest()
	if r.Err() != nil {
		return keys, false
	}
	var own wire.Writer
	own.PutRecord(&s.settings)
	mine := wire.NewReader(own.B)
	if !bytes.Equal(settings, mine.Bytes()) {
		return keys, false
	}
	own.B = own.B[:0]
	s.putCounters(&own)
	return keys, bytes.Equal(rest, own.B)
}

func (s *Store) loadQueue(r *wire.Reader) {
	q := &Queue{}
	r.Get(q)
	s.queues.byNo.Set(q.no, q)
	if r.Bool() {
		s.queues.deleted.Set(q.no, struct{}{})
	}
	if !q.deleted && !q.isSingletons() {
		s.queues.byName.Set(q.Name, q.no)
	}
	if !q.deleted {
		s.memory.fixed += queueCost(q)
	}
}

func (s *Store) loadFlow(r *wire.Reader) {
	f := &FlowKey{}
	r.Get(f)
	f.keepSane()
	s.flows.load(f)
	s.memory.fixed += flowCost(f)
}

func (s *Store) loadMessage(r *wire.Reader) error {
	m := &Message{}
	r.Get(m)
	holds := r.Bool()
	if err := r.Done(); err != nil {
		return err
	}
	if err := s.loadContent(m); err != nil {
		return err
	}
	s.hold(m)
	if m.place >= places || m.place == placeActive && m.claim == nil {
		return errRecord
	}
	s.messages.Set(m.Seq, m)
	s.places.add(m)
	if m.queue != 0 && m.place != placeBacklog && m.place != placeDone {
		s.places.slots.Set(member{m.queue, m.Seq}, struct{}{})
	}
	if holds {
		s.places.holding.Set(member{m.queue, m.Seq}, struct{}{})
	}
	if m.calls&isSingleton != 0 && (m.place != placeDone || holds) {
		s.gathered.keys.Set(m.envelope().gatherKey(), m.queue)
	}
	if m.place == placeDone {
		s.memory.done += m.size() // unless its dead letter comes
	} else {
		s.memory.live += m.size() + m.reserved()
	}
	s.memory.uncounted += m.uncounted()
	return nil
}

// loadContent has a message that was read keep its content where a new one does, and nothing of the record beside it.
func (s *Store) loadContent(m *Message) error {
	if m.body == nil {
		c := m.Content()
		m.setContent(c, s.loadedBody(c), s.keeper)
		return nil
	}
	c := m.envelope()
	shared, had := s.shared.Get(c.kept.body)
	switch {
	case c.kept.body != 0 && had:
		m.body = shared.body
	case m.body.Len() < payload.Apart:
		return errRecord
	default:
		m.body = &body{Payload: m.body.Stored(s.keeper), no: c.kept.body}
	}
	m.cacheFlags(c)
	m.keepHead(bytes.Clone(m.head.Bytes()), s.keeper)
	return nil
}

func (s *Store) loadEvent(r *wire.Reader) error {
	v := &Event{}
	r.Get(v)
	if d := v.detail; d != nil && d.response != nil {
		d.response = d.response.clone()
		d.response.Keep(s.keeper)
	}
	if _, ok := s.messages.Get(v.message); !ok {
		return errRecord
	}
	s.events.byNo.Set(v.Seq, v)
	s.memory.done += v.size()
	s.memory.uncounted += v.uncounted()
	return r.Done()
}

func (s *Store) loadVolume(r *wire.Reader) error {
	v := &sealed.Volume{}
	r.Get(v)
	if last := s.events.past.Newest(); !v.Valid() || v.Last > s.events.newest || uint64(v.Count) != v.Last-v.First+1 || last != nil && v.First <= last.Last {
		return errRecord
	}
	if no, _, ok := s.events.byNo.Min(); ok && no <= v.Last {
		return errRecord
	}
	v.Keep(s.keeper)
	s.addPast(v)
	return r.Done()
}

func (s *Store) loadDead(r *wire.Reader) error {
	d := &Dead{}
	r.Get(d)
	m, ok := s.messages.Get(d.Seq)
	if !ok {
		return errRecord
	}
	d.keep(s.keeper)
	s.setDead(nil, d)
	s.memory.dead += m.size()
	s.memory.done -= m.size()
	return r.Done()
}
