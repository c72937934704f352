package queue

import (
	"github.com/trireme-dev/trireme/fsm/env"
)

// The messages of a singleton's key are in a queue without a name, of one slot: they come one after the other, and the claim of one
// outlives its sender. The queue is there as long as it has messages.

// singleton judges a publication by the live message of its key, and returns that if no message is to be made.
func (s *Store) singleton(e *env.Env, c *Content) (live Published, done bool) {
	no, found := s.gathered.keys.Get(c.gatherKey())
	if !found {
		return live, false
	}
	switch c.Gather.Mode {
	case SingletonCancel:
		for _, seq := range append(lineMembers(s.places.backlog, no), s.members(s.places.slots, no)...) {
			s.cancel(e, seq)
		}
	case SingletonSkip, SingletonAttach:
		if m := s.liveOf(no); m != nil {
			attach := c.Gather.Mode == SingletonAttach
			return Published{ID: m.ID, Attached: attach, Deduplicated: !attach}, true
		}
	}
	return live, false
}

// liveOf returns the message of a singleton's queue that has its turn, or comes next; nil if there is none. One that is to be cancelled
// lives no more.
func (s *Store) liveOf(queue uint64) *Message {
	if seq, ok := first(s.places.slots, queue); ok {
		if m, _ := s.messages.Get(seq); !m.stopping {
			return m
		}
	}
	if next, ok := s.nextIn(s.places.backlog, queue); ok {
		m, _ := s.messages.Get(next.seq)
		return m
	}
	return nil
}

// singletonQueue is the number of the queue of a singleton's key, which is made if there is none.
func (s *Store) singletonQueue(key dedupKey, now int64) uint64 {
	if no, ok := s.gathered.keys.Get(key); ok {
		return no
	}
	q := &Queue{no: s.next(), Parallelism: 1, Created: now, Updated: now}
	s.queues.byNo.Set(q.no, q)
	s.memory.fixed += queueCost(q)
	s.gathered.keys.Set(key, q.no)
	return q.no
}

// leaveSingleton forgets the queue of a singleton's key if m was its last message.
func (s *Store) leaveSingleton(m *Message) {
	if m.calls&isSingleton == 0 || m.queue == 0 {
		return
	}
	q, ok := s.queues.byNo.Get(m.queue)
	if !ok || waits(s.places.backlog, m.queue) || s.places.taken(m.queue) > 0 {
		return
	}
	s.queues.byNo.Delete(q.no)
	s.memory.fixed -= queueCost(q)
	s.gathered.keys.Delete(m.envelope().gatherKey())
}

// isSingletons reports whether a queue is that of a singleton's key.
func (q *Queue) isSingletons() bool { return q.Name == "" }
