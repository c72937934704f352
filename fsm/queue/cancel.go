package queue

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
)

// MaxScan is the most records that one entry, or one page of an answer, looks at for a filter.
const MaxScan = 10_000

// maxCancel is the most messages that one entry cancels: what the lock is held for.
const maxCancel = 1_000

// Cancel cancels messages. One that waits is done at once; of one that is being sent the attempt goes on, and no other
// follows it.
func (s *Store) Cancel(e *env.Env, n Cancellation) (Cancelled, error) {
	var out Cancelled
	if len(n.IDs) > 0 {
		s.makeRoom(cancelGrowth * int64(len(n.IDs)))
		for _, id := range n.IDs {
			m := s.find(id)
			if m == nil && s.cancelPart(e, id) {
				out.Count++
				continue
			}
			if m == nil || m.place == placeDone || m.run {
				if batch := s.batchOf(id); n.Strict && batch != nil {
					return Cancelled{}, notFound("message %s is in the batch %s, whose delivery has begun", id, batch.ID)
				}
				if n.Strict {
					return Cancelled{}, notFound("message %s not found", id)
				}
				continue
			}
			if s.cancel(e, id.Seq) {
				out.Count++
			}
		}
		s.trim(e)
		return out, nil
	}
	out = s.cancelMatching(e, n)
	s.trim(e)
	return out, nil
}

func (s *Store) cancelMatching(e *env.Env, n Cancellation) Cancelled {
	limit := maxCancel
	if n.Limit > 0 {
		limit = min(limit, n.Limit)
	}
	out := s.cancelSome(e, &n.Filter, n.After, math.MaxUint64, MaxScan, limit)
	out.More = out.More && (n.Limit == 0 || out.Count < n.Limit)
	return out
}

// cancelSome cancels messages that a filter chooses, of those behind after up to until: it looks at scan and cancels
// limit at most.
func (s *Store) cancelSome(e *env.Env, f *Filter, after, until uint64, scan, limit int) (out Cancelled) {
	var chosen []uint64
	looked, filter := 0, f.chooser()
	s.messages.Ascend(after+1, func(seq uint64, m *Message) bool {
		if seq > until {
			return false
		}
		if looked == scan || len(chosen) == limit {
			out.More = true
			return false
		}
		looked++
		out.Last = seq
		if s.cancellable(m, filter) {
			chosen = append(chosen, seq)
		}
		return true
	})
	s.makeRoom(cancelGrowth * int64(len(chosen)))
	for _, seq := range chosen {
		if s.cancel(e, seq) {
			out.Count++
		}
	}
	return out
}

// cancelGrowth is the growth by the history of a cancelled message. A full database lets messages be cancelled all the same: it
// forgets older history.
const cancelGrowth = 2 * eventCost

// cancel cancels a message that is not done, and reports whether it was not asked for before.
func (s *Store) cancel(e *env.Env, seq uint64) bool {
	old, _ := s.messages.Get(seq)
	if old == nil || old.place == placeDone || old.stopping {
		return false
	}
	m := copyOf(old)
	s.record(m, e.Now, Event{State: CancelRequested})
	if m.place == placeActive {
		m.stopping = true
		s.store(m)
		return true
	}
	s.dequeue(m, e.Now)
	s.finishMessage(e, m, Canceled, nil, "")
	return true
}

// members are the messages of a queue in an index, oldest first.
func (s *Store) members(t *cow.BTree[member, struct{}], of uint64) (list []uint64) {
	t.AscendHead(of, func(m member, _ struct{}) bool {
		if m.of == of {
			list = append(list, m.seq)
		}
		return m.of == of
	})
	return list
}
