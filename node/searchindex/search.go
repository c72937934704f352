package searchindex

import (
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
	"github.com/trireme-dev/trireme/internal/plural"
)

// find returns the index of a definition if it has reached a point; in.mu is held. It returns nil and no error if the caller has to wait.
func (in *Indexes) find(p search.Point, s *search.Definition) (*task, error) {
	d := in.databases[p.Name]
	t := d.task(p.Database, s.Serial)
	switch {
	case t == nil:
		if in.listed == in.replaced && (d == nil || !d.renew && !d.busy) {
			return nil, search.Errorf("Index %s was dropped while the request was under way", s.Name)
		}
	case t.suspended != nil:
		if d.limit = p.Memory; !in.rebuildIfFits(t) {
			return nil, t.suspended
		}
	case t.scanned && d.reached(p.Index):
		return t, nil
	}
	return nil, nil
}

// task is the index of a definition of the database of a number, nil if there is none.
func (d *database) task(number, serial uint64) *task {
	if d != nil && d.number == number {
		if i := slices.IndexFunc(d.tasks, func(t *task) bool { return t.def.Serial == serial }); i >= 0 {
			return d.tasks[i]
		}
	}
	return nil
}

// reached reports whether the scanned indexes of a database include the log entry at an index.
func (d *database) reached(index uint64) bool {
	return d.done >= index || !d.busy && !d.renew && !d.flushed && len(d.keys)+len(d.names) == 0
}

// awaitIndex waits until the index of a definition has reached a point, at most limit, and returns it with its lock held for reading.
func (in *Indexes) awaitIndex(p search.Point, d *search.Definition, limit time.Duration) (*task, error) {
	var expired <-chan time.Time
	for {
		in.mu.Lock()
		t, err := in.find(p, d)
		pending, moved := in.pending(p, d), in.progressed
		in.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if t != nil {
			t.mu.RLock()
			if in.isCurrent(t) {
				return t, nil
			}
			t.mu.RUnlock()
			continue
		}
		if expired == nil && limit > 0 {
			timer := time.NewTimer(limit)
			defer timer.Stop()
			expired = timer.C
		}
		select {
		case <-moved:
		case <-p.Done:
			return nil, search.Error("the request ended before the index was ready")
		case <-in.stopped.Done():
			return nil, errStopped
		case <-expired:
			return nil, search.Errorf("Index %s is being built on this node, %s left; SEARCH.WAITINDEXING waits for it", d.Name, plural.Of(pending, "key"))
		}
	}
}

// isCurrent reports whether an index was not released.
func (in *Indexes) isCurrent(t *task) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return !t.gone
}

// pending returns the approximate number of keys that an index still has to read; in.mu is held.
func (in *Indexes) pending(p search.Point, s *search.Definition) int64 {
	d := in.databases[p.Name]
	t := d.task(p.Database, s.Serial)
	if t == nil {
		return 0
	}
	n := int64(len(d.keys) + len(d.names))
	if !t.scanned {
		n += max(1, t.left)
	}
	return n
}

// Query returns the documents that match a query.
func (in *Indexes) Query(p search.Point, d *search.Definition, q *search.Query) (*search.Hits, error) {
	return run(in, p, d, func(x *index, b *budget) (*search.Hits, error) {
		return x.query(q, env.Time{Now: p.Now, Wall: p.Wall}, b)
	})
}

// Count returns the number of documents that match a filter.
func (in *Indexes) Count(p search.Point, d *search.Definition, filter []byte) (int64, error) {
	return run(in, p, d, func(x *index, b *budget) (int64, error) {
		return x.count(filter, env.Time{Now: p.Now, Wall: p.Wall}, b)
	})
}

// Aggregate computes aggregations.
func (in *Indexes) Aggregate(p search.Point, d *search.Definition, filter, aggregations []byte) (reply.Value, error) {
	return run(in, p, d, func(x *index, b *budget) (reply.Value, error) {
		return x.aggregate(filter, aggregations, env.Time{Now: p.Now, Wall: p.Wall}, b)
	})
}

// run runs a search on the index of a definition, and charges the request for its work.
func run[T any](in *Indexes, p search.Point, d *search.Definition, fn func(x *index, b *budget) (T, error)) (found T, err error) {
	t, err := in.awaitIndex(p, d, maxWait)
	if err != nil {
		return found, err
	}
	defer t.mu.RUnlock()
	b := &budget{left: p.Work, tell: p.Spend, done: p.Done, closed: in.stopped.Done()}
	defer b.settle()
	return fn(t.index, b)
}

// Wait waits until an index has reached a point, or the caller cancels.
func (in *Indexes) Wait(p search.Point, d *search.Definition) error {
	t, err := in.awaitIndex(p, d, 0)
	if err == nil {
		t.mu.RUnlock()
	}
	return err
}

// Status returns the progress of an index.
func (in *Indexes) Status(p search.Point, d *search.Definition) search.Status {
	_, stemmed := stemmers[d.Language]
	s := search.Status{Unstemmed: !stemmed}
	in.mu.Lock()
	t := in.databases[p.Name].task(p.Database, d.Serial)
	s.Pending = in.pending(p, d)
	if t != nil {
		s.Suspended = t.suspended
	}
	in.mu.Unlock()
	if t != nil && t.suspended == nil {
		t.mu.RLock()
		s.Documents, s.Bytes, s.LeftOut = int64(t.live()), t.bytes, t.leftOut
		t.mu.RUnlock()
	}
	return s
}
