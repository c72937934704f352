package queue

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/sealed"
)

// subject is a message as events tell of it.
type subject interface {
	// tell returns an event of the message with what it tells.
	tell(r *reader, v *Event) EventInfo
	// tries returns how many attempts the message has had.
	tries() uint32
	// ends reports whether an event is the last one of the message.
	ends(r *reader, v *Event) bool
}

func (m *Message) tries() uint32 { return m.attempts }

func (pm *pastMessage) tries() uint32 { return pm.attempts }

func (m *Message) ends(_ *reader, v *Event) bool { return v.Seq == m.last }

func (m *Message) tell(r *reader, v *Event) EventInfo {
	return r.told(ofPart(EventInfo{Event: v, ID: m.ID, Content: m.envelope(), body: m.apart()}))
}

func (pm *pastMessage) ends(r *reader, v *Event) bool {
	if m, ok := r.s.messages.Get(pm.Seq); ok { // it waits, or is a dead letter
		return v.Seq == m.last
	}
	return v.State.Final() && v.Part().IsZero()
}

func (pm *pastMessage) tell(r *reader, v *Event) EventInfo {
	c := pm.content
	return r.told(ofPart(EventInfo{Event: v, ID: pm.ID, Content: &c, body: pm.body}))
}

// ofPart has an event of a publication in a batch tell of that: without the body, which is that of all.
func ofPart(n EventInfo) EventInfo {
	if part := n.Part(); !part.IsZero() {
		n.Batch, n.ID, n.body = n.ID, part, payload.Payload{}
		n.Content.Body = nil
	}
	return n
}

// reader reads the events of a fork of a store, of the trees and of volumes. It keeps the two volumes that it has asked for last: the
// events of a message are often in two.
type reader struct {
	s            *Store
	open, former *opened
}

func (s *Store) reader() *reader { return &reader{s: s} }

// volume opens a volume, unless it is open.
func (r *reader) volume(v *sealed.Volume) *opened {
	switch {
	case r.open != nil && r.open.Volume == v:
	case r.former != nil && r.former.Volume == v:
		r.open, r.former = r.former, r.open
	default:
		r.open, r.former = open(v), r.open
	}
	return r.open
}

// told completes an event with the answer that it tells: its own, or on Failed that of the attempt before it.
func (r *reader) told(n EventInfo) EventInfo {
	told := n.details()
	if n.State == Failed {
		if before := r.event(n.before); before != nil {
			told = before.details()
		}
	}
	n.Response, n.Error = told.response, told.failure
	return n
}

// event is the event of a number, nil if it is not kept.
func (r *reader) event(no uint64) *Event {
	if v, ok := r.s.events.byNo.Get(no); ok {
		return v
	}
	if v := r.s.events.past.Of(no); v != nil {
		if o := r.volume(v); len(o.events) > 0 {
			return &o.events[no-v.First]
		}
	}
	return nil
}

// walk calls visit for the events of the pages that follow, in the order that the page asks for, until it returns false. It leaves out
// those that are not in the times of the filter, and skips volumes that have none that the filter chooses, and those that are counted
// as a whole: for these it calls skip with the last of their stamps.
func (r *reader) walk(p Page, c *chooser, skip func(*sealed.Volume, Stamp) bool, visit func(*Event, subject) bool) {
	if p.Newest {
		r.descend(p.After, c, skip, visit)
	} else {
		r.ascend(p.After, c, skip, visit)
	}
}

func (r *reader) ascend(after Stamp, c *chooser, skip func(*sealed.Volume, Stamp) bool, visit func(*Event, subject) bool) {
	past, from, over := &r.s.events.past, after.Seq+1, false
	first := past.Search(func(v *sealed.Volume) bool { return v.Last < from || v.To < c.From })
	past.Ascend(first, func(v *sealed.Volume) bool {
		switch {
		case c.To != 0 && v.From > c.To:
			over = true
		case !c.mayBeIn(v), v.First >= from && c.whole(v):
			over = !skip(v, Stamp{v.To, v.Last})
		default:
			o := r.volume(v)
			for i := range o.events {
				if e := &o.events[i]; e.Seq >= from && !visit(e, &o.messages[o.of[i]]) {
					over = true
					break
				}
			}
		}
		return !over
	})
	if over {
		return
	}
	r.s.events.byNo.Ascend(from, func(_ uint64, v *Event) bool {
		m, _ := r.s.messages.Get(v.message)
		return (c.To == 0 || v.At <= c.To) && visit(v, m)
	})
}

func (r *reader) descend(after Stamp, c *chooser, skip func(*sealed.Volume, Stamp) bool, visit func(*Event, subject) bool) {
	tree, past, over := r.s.events.byNo, &r.s.events.past, false
	i := tree.Len()
	if after != (Stamp{}) {
		i, _ = tree.Rank(after.Seq)
	}
	for i--; i >= 0; i-- {
		_, v := tree.At(i)
		if v.At < c.From {
			return
		}
		m, _ := r.s.messages.Get(v.message)
		if !visit(v, m) {
			return
		}
	}
	last := past.Len() - 1
	if after != (Stamp{}) {
		last = min(last, past.Search(func(v *sealed.Volume) bool { return v.First < after.Seq })-1)
	}
	if c.To != 0 {
		last = min(last, past.Search(func(v *sealed.Volume) bool { return v.From <= c.To })-1)
	}
	past.Descend(last, func(v *sealed.Volume) bool {
		switch {
		case v.To < c.From:
			over = true
		case !c.mayBeIn(v), (after == (Stamp{}) || v.Last < after.Seq) && c.whole(v):
			over = !skip(v, Stamp{v.From, v.First})
		default:
			o := r.volume(v)
			for i := len(o.events) - 1; i >= 0 && !over; i-- {
				if e := &o.events[i]; after == (Stamp{}) || e.Seq < after.Seq {
					over = !visit(e, &o.messages[o.of[i]])
				}
			}
		}
		return !over
	})
}

// of returns all events of a message that are kept, the oldest first, and the message; nil if none is kept, nor the message.
func (r *reader) of(id ID) (list []*Event, who subject) {
	m := r.s.whole(id)
	if m != nil {
		id, who = m.ID, m
		for v, ok := r.s.events.byNo.Get(m.last); ok; v, ok = r.s.events.byNo.Get(v.before) {
			list = append(list, v)
		}
		slices.Reverse(list)
		if len(list) > 0 && list[0].before == 0 { // that is its first
			return list, who
		}
	}
	var old []*Event
	r.s.events.past.Ascend(0, func(v *sealed.Volume) bool {
		if len(v.Sets) != 1 || !v.Sets[0].Has(id.Seq) {
			return true
		}
		o := r.volume(v)
		for i := range o.events {
			pm := &o.messages[o.of[i]]
			if o.events[i].Part() == id { // the rest is told of its batch
				id = pm.ID
			}
			if pm.ID == id {
				old = append(old, &o.events[i])
				if m == nil {
					who = pm
				}
			}
		}
		return true
	})
	return append(old, list...), who
}

// pastMessage is a message that is done and only in volumes, as it was at its end; nil if there is none.
func (s *Store) pastMessage(id ID) *Message {
	if s.whole(id) != nil {
		return nil
	}
	r := s.reader()
	events, who := r.of(id)
	pm, ok := who.(*pastMessage)
	if !ok {
		return nil
	}
	c := pm.content
	if pm.body.Len() > 0 {
		c.Body = pm.body.Bytes()
	}
	last := events[len(events)-1]
	m := &Message{
		ID: pm.ID, place: placeDone, state: last.State, at: last.At, since: last.At, last: last.Seq, retries: uint32(c.Retries),
		attempts: pm.attempts, retried: pm.retried,
	}
	m.setContent(&c, nil, nil)
	return m
}

// Past is Message and Explain for a message that was done a short time ago (Settings.Grace) and is not in the trees any more. It reads
// volumes, so it is for forks.
func (s *Store) Past(id ID, now int64) (MessageInfo, Explanation, bool) {
	m := s.pastMessage(id)
	if m == nil || m.at+s.settings.Grace <= now {
		return MessageInfo{}, Explanation{}, false
	}
	x := s.explain(m, now)
	x.Queue = m.envelope().Queue
	return m.info(), x, true
}
