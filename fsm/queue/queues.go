package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
)

// queueNamed is the queue of a name, nil if there is none.
func (s *Store) queueNamed(name string) *Queue {
	no, ok := s.queueNames.Get(name)
	if !ok {
		return nil
	}
	q, _ := s.queues.Get(no)
	return q
}

func (s *Store) roomForQueue(name string) *Error {
	if n := s.settings.MaxQueues; n > 0 && s.queueNames.Len() >= n && s.queueNamed(name) == nil {
		return quota("maxQueues")
	}
	return nil
}

// queueFor is the number of the queue of a name, which is made with parallelism 1 if there is none.
func (s *Store) queueFor(name string, now int64) uint64 {
	if no, ok := s.queueNames.Get(name); ok {
		return no
	}
	return s.newQueue(name, now).no
}

func (s *Store) newQueue(name string, now int64) *Queue {
	q := &Queue{Name: strings.Clone(name), no: s.next(), Parallelism: 1, Created: now, Updated: now}
	s.queueNames.Set(q.Name, q.no)
	s.queues.Set(q.no, q)
	s.fixedBytes += queueCost(q)
	return q
}

func queueCost(q *Queue) int64 { return 240 + 2*int64(len(q.Name)) }

// ChangeQueue makes, changes or deletes a queue.
func (s *Store) ChangeQueue(e *env.Env, n QueueChange) (Queue, error) {
	if !ValidName(n.Name) {
		return Queue{}, invalid("invalid queue name %q: %s", n.Name, nameRule)
	}
	old := s.queueNamed(n.Name)
	switch n.Act {
	case ActPut:
		return s.putQueue(e, n, old)
	case ActDelete:
		if old == nil {
			return Queue{Name: strings.Clone(n.Name)}, nil
		}
		s.deleteQueue(e, old)
		s.trim(e.Now)
		return *old, nil
	case ActPause, ActResume:
		if old == nil {
			return Queue{}, notFound("queue %s not found", n.Name)
		}
		return s.setQueue(e, old, old.Parallelism, n.Act == ActPause), nil
	}
	return Queue{}, invalid("a queue can't be changed in this way")
}

// maxSlots is the highest parallelism of a queue: a pause and a resume move as many messages in one piece.
const maxSlots = 10_000

func (s *Store) putQueue(e *env.Env, n QueueChange, old *Queue) (Queue, error) {
	if n.Parallelism < 0 {
		return Queue{}, invalid("invalid parallelism: %d", n.Parallelism)
	}
	if n.Parallelism > maxSlots {
		return Queue{}, invalid("invalid parallelism: %d; at most %d messages of a queue are delivered at a time", n.Parallelism, maxSlots)
	}
	if limit := s.settings.MaxParallelism; limit > 0 && n.Parallelism > limit {
		return Queue{}, quota("maxParallelism")
	}
	if err := s.roomForQueue(n.Name); err != nil {
		return Queue{}, err
	}
	if old == nil {
		old = s.newQueue(n.Name, e.Now)
	}
	parallelism := n.Parallelism
	if parallelism == 0 {
		parallelism = old.Parallelism
	}
	return s.setQueue(e, old, parallelism, n.Paused), nil
}

// setQueue changes a queue, and nothing of one that is so already. A pause takes the slots of all messages that are not being sent, so that none of them is.
func (s *Store) setQueue(e *env.Env, old *Queue, parallelism int, paused bool) Queue {
	if old.Parallelism == parallelism && old.Paused == paused {
		return *old
	}
	q := *old
	q.Parallelism, q.Paused, q.Updated = parallelism, paused, e.Now
	s.queues.Set(q.no, &q)
	if paused && !old.Paused {
		for _, seq := range s.members(s.slots, q.no) {
			if m, _ := s.messages.Get(seq); m.place != placeActive {
				s.revokeSlot(copyOf(m), e.Now)
			}
		}
	}
	s.admit(q.no, e.Now)
	return q
}

// deleteQueue takes a queue's name away and drops the messages that wait in it. Attempts under way are the last of their
// messages. The backlog of a long queue is dropped step by step; none of it is delivered any more.
func (s *Store) deleteQueue(e *env.Env, old *Queue) {
	s.queueNames.Delete(old.Name)
	s.fixedBytes -= queueCost(old)
	q := *old
	q.Paused, q.deleted = true, true // nothing moves up while it is emptied
	s.queues.Set(q.no, &q)
	for _, seq := range s.members(s.slots, q.no) {
		s.cancel(e, seq)
	}
	for _, seq := range s.members(s.holding, q.no) {
		s.holding.Delete(member{q.no, seq})
	}
	s.deletedQueues.Set(q.no, struct{}{})
	s.emptyQueues(e, maxCancel)
}

// emptyQueues drops messages of deleted queues, at most limit, and forgets the queues that are empty.
func (s *Store) emptyQueues(e *env.Env, limit int) (done int) {
	for done < limit {
		no, _, ok := s.deletedQueues.Min()
		if !ok {
			break
		}
		done++
		if seq, found := first(s.backlog, no); found {
			s.cancel(e, seq)
		} else {
			s.deletedQueues.Delete(no)
			s.queues.Delete(no)
		}
	}
	return done
}
