package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// bulkScan is the most runs that a step looks at, countScan the most that one reading looks at to count what a filter chooses, and bulkCancel
	// the most that one step by SweepBulk cancels.
	bulkScan   = 500
	countScan  = 2_000
	bulkCancel = 100
)

// BulkCancellation is the argument of the operation BulkCancelRuns.
type BulkCancellation struct {
	queue.BulkRequest
	Filter Filter
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (bc *BulkCancellation) Fields(c *wire.Codec) {
	c.Record(bc.BulkRequest.Fields)
	c.Record(bc.Filter.Fields)
}

// BulkCancel starts, continues or stops the cancellation of the runs that a filter chooses, as queue.BulkCancel does that
// of messages.
func (s *Store) BulkCancel(e *env.Env, q *queue.Store, n BulkCancellation) (queue.BulkAction, error) {
	var b *queue.BulkAction
	switch n.Act {
	case queue.BulkStart:
		var err error
		until := s.next()
		if b, err = s.bulk.Start(e, until, until, wire.Marshal(&n.Filter), n.Matched); err != nil {
			return queue.BulkAction{}, err
		}
	default:
		if b = s.bulk.Find(n.ID); b == nil {
			return queue.BulkAction{}, notFound("bulk action %s not found", n.ID)
		}
	}
	if n.Act == queue.BulkStop {
		b = s.bulk.Stop(e, b)
	} else if !b.Done() {
		b = s.bulkStep(e, q, b, maxCancel)
	}
	s.trim(e, q)
	return *b, nil
}

// filterOf decodes the filter of a bulk action of runs.
func filterOf(b *queue.BulkAction) (f Filter) {
	wire.NewReader(b.Filter).Get(&f)
	return f
}

// bulkStep has a bulk action go on, from the newest run that is meant to the oldest.
func (s *Store) bulkStep(e *env.Env, q *queue.Store, b *queue.BulkAction, limit int) *queue.BulkAction {
	f := filterOf(b)
	below := b.After
	if below == 0 {
		below = b.Until
	}
	out := s.cancelSome(e, q, &f, below, bulkScan, limit)
	if out.Cursor == 0 {
		out.Cursor = below
	}
	return s.bulk.Progress(e, b, out.Count, out.Cursor, out.More)
}

// SweepBulk takes a step of the oldest bulk action and forgets old ones, at most limit. While one is left to do, it counts
// as limit.
func (s *Store) SweepBulk(e *env.Env, q *queue.Store, limit int) (done int) {
	if limit <= 0 {
		return 0
	}
	if b := s.bulk.Oldest(); b != nil {
		s.bulkStep(e, q, b, min(limit, bulkCancel))
		s.trim(e, q)
		if s.bulk.Oldest() != nil {
			return limit
		}
		done++
	}
	return done + s.bulk.Forget(e.Now, limit-done)
}

// CountActive counts active runs that a filter chooses, of those below a number (0 = all) and at most
// countScan that it looks at; more says that others are left below cursor.
func (s *Store) CountActive(f *Filter, below uint64) (n int, cursor uint64, more bool) {
	looked, filter := 0, s.chooser(f)
	s.candidates(f, below, func(r *Run) bool {
		if more = looked == countScan; more {
			return false
		}
		looked, cursor = looked+1, r.No
		if r.Active() && filter.match(r, r.Created) {
			n++
		}
		return true
	})
	return n, cursor, more
}

// Bulk are the bulk actions of runs, for reading.
func (s *Store) Bulk() *queue.BulkTable { return &s.bulk }
