package pubsub

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/channel"
)

// An Event is a message to a subscriber, or the confirmation of a subscription.
type Event struct {
	// Confirmed says that Kind and Name are subscribed to from here on; otherwise the
	// event is a message to Channel, received because of that subscription.
	Confirmed bool
	Kind      channel.Kind
	Name      string
	// Channel and Message are empty for a confirmation.
	Channel, Message string
}

func (e *Event) size() int { return len(e.Name) + len(e.Channel) + len(e.Message) + eventCost }

// eventCost is the memory of an event without its texts, which receivers share, in bytes.
const eventCost = 80

// Subscription is the subscriptions of one connection and its queue of events.
type Subscription struct {
	inbox[Event]
	hub *Hub
	db  string

	members map[channel.Ref]*member // the hub's lock is held
}

// Subscribe returns an empty subscription for a connection to db. The caller closes it when the connection ends.
func (h *Hub) Subscribe(db string) *Subscription {
	s := &Subscription{hub: h, db: db, members: map[channel.Ref]*member{}}
	s.open(h.max)
	return s
}

// Add subscribes to names. Each is confirmed by an event when the log has it; if that fails, the whole subscription ends with the
// reason. Names that are subscribed to already are confirmed at once. ErrFull says that nothing was added.
func (s *Subscription) Add(kind channel.Kind, names ...string) error {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.finish(ErrClosed)
	}
	if s.ended() {
		return nil
	}
	if !h.topics.fits(s, kind, names) {
		return ErrFull
	}
	for _, name := range names {
		ref := channel.Ref{DB: s.db, Kind: kind, Name: name}
		if m := s.members[ref]; m != nil {
			if m.active {
				h.push(s, Event{Confirmed: true, Kind: kind, Name: name})
			}
			continue
		}
		t := h.topics.topic(ref)
		h.order++
		m := &member{sub: s, topic: t, index: len(t.members), order: h.order}
		t.members = append(t.members, m)
		t.unannounced = append(t.unannounced, m)
		s.members[ref] = m
		h.topics.resize(s.db, memberCost)
		h.enqueue(t)
	}
	return nil
}

// Remove ends the subscription to names. After it returns no message to them is queued; those that are queued stay.
func (s *Subscription) Remove(kind channel.Kind, names ...string) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range names {
		if m := s.members[channel.Ref{DB: s.db, Kind: kind, Name: name}]; m != nil {
			h.leave(m)
		}
	}
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.end(s, ErrClosed)
}

// end takes a subscription out of all its topics; the lock is held.
func (h *Hub) end(s *Subscription, why error) {
	s.finish(why)
	for _, m := range s.members { // unordered: each leaves its own topic
		h.leave(m)
	}
}

// leave takes a member out of its topic; the lock is held.
func (h *Hub) leave(m *member) {
	t := m.topic
	last := len(t.members) - 1
	t.members[m.index] = t.members[last]
	t.members[m.index].index = m.index
	t.members[last] = nil
	t.members = t.members[:last]
	m.index = -1
	t.unannounced = slices.DeleteFunc(t.unannounced, func(f *member) bool { return f == m })
	delete(m.sub.members, t.ref)
	h.topics.resize(t.ref.DB, -memberCost)
	h.leavingQueued = true
	h.leaving.Store(true)
	h.enqueue(t)
}

// push queues an event for a subscription, or ends it if it lags; the lock is held.
func (h *Hub) push(s *Subscription, e Event) {
	if !s.put(e, e.size()) {
		h.end(s, ErrSlow)
	}
}
