package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
)

// queueTable holds the queues. A name finds a queue until it is deleted; a deleted one stays, without its name, until it is empty.
type queueTable struct {
	byNo    *cow.BTree[uint64, *Queue]
	byName  *cow.BTree[string, uint64]
	deleted *cow.BTree[uint64, struct{}] // those that are being emptied
}

func newQueueTable() queueTable {
	return queueTable{byNo: byNumber[*Queue](), byName: byName[uint64](), deleted: byNumber[struct{}]()}
}

func (qt *queueTable) fork() queueTable {
	return queueTable{byNo: qt.byNo.Snapshot(), byName: qt.byName.Snapshot(), deleted: qt.deleted.Snapshot()}
}

// named is the queue of a name, nil if there is none.
func (qt *queueTable) named(name string) *Queue {
	no, ok := qt.byName.Get(name)
	if !ok {
		return nil
	}
	q, _ := qt.byNo.Get(no)
	return q
}

// add stores a new queue under its name.
func (qt *queueTable) add(q *Queue) {
	qt.byName.Set(q.Name, q.no)
	qt.byNo.Set(q.no, q)
}

// unname takes a queue's name away, so that it can be emptied.
func (qt *queueTable) unname(old *Queue) {
	qt.byName.Delete(old.Name)
	q := *old
	q.Paused, q.deleted = true, true // nothing moves up while it is emptied
	qt.byNo.Set(q.no, &q)
	qt.deleted.Set(q.no, struct{}{})
}

// forget removes a deleted queue that is empty.
func (qt *queueTable) forget(no uint64) {
	qt.deleted.Delete(no)
	qt.byNo.Delete(no)
}

func (s *Store) roomForQueue(name string) *Error {
	if n := s.settings.MaxQueues; n > 0 && s.queues.byName.Len() >= n && s.queues.named(name) == nil {
		return quota("maxQueues")
	}
	return nil
}

// queueFor is the number of the queue of a name, which is made with parallelism 1 if there is none.
func (s *Store) queueFor(name string, now int64) uint64 {
	if no, ok := s.queues.byName.Get(name); ok {
		return no
	}
	return s.newQueue(name, now).no
}

func (s *Store) newQueue(name string, now int64) *Queue {
	q := &Queue{Name: strings.Clone(name), no: s.next(), Parallelism: 1, Created: now, Updated: now}
	s.queues.add(q)
	s.memory.fixed += queueCost(q)
	return q
}

func queueCost(q *Queue) int64 { return 240 + 2*int64(len(q.Name)) }

// ChangeQueue makes, changes or deletes a queue.
func (s *Store) ChangeQueue(e *env.Env, n QueueChange) (Queue, error) {
	if !ValidName(n.Name) {
		return Queue{}, invalid("invalid queue name %q: %s", n.Name, nameRule)
	}
	old := s.queues.named(n.Name)
	switch n.Act {
	case ActPut:
		return s.putQueue(e, n, old)
	case ActDelete:
		if old == nil {
			return Queue{Name: strings.Clone(n.Name)}, nil
		}
		s.deleteQueue(e, old)
		s.trim(e)
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
	if !paused {
		s.goOn(q.no)
	}
	s.queues.byNo.Set(q.no, &q)
	if paused && !old.Paused {
		for _, seq := range s.members(s.places.slots, q.no) {
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
	s.goOn(old.no)
	s.queues.unname(old)
	s.memory.fixed -= queueCost(old)
	for _, seq := range s.members(s.places.slots, old.no) {
		s.cancel(e, seq)
	}
	for _, seq := range s.members(s.places.holding, old.no) {
		s.places.holding.Delete(member{old.no, seq})
	}
	s.emptyQueues(e, maxCancel)
}

// emptyQueues drops messages of deleted queues, at most limit, and forgets the queues that are empty.
func (s *Store) emptyQueues(e *env.Env, limit int) (done int) {
	for done < limit {
		no, _, ok := s.queues.deleted.Min()
		if !ok {
			break
		}
		done++
		if m, found := from(s.places.backlog, inLine{of: no}); found {
			s.cancel(e, m.seq)
		} else {
			s.queues.forget(no)
		}
	}
	return done
}
