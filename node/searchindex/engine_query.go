package searchindex

import (
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
	"github.com/trireme-dev/trireme/internal/plural"
)

// find is the index of a definition as far as it is at a point; e.mu is held. Without either, it is to be waited for.
func (e *Engine) find(p search.Point, s *search.Definition) (*task, error) {
	d := e.databases[p.Name]
	t := d.task(p.Database, s.Serial)
	switch {
	case t == nil:
		if e.listed == e.replaced && (d == nil || !d.renew && !d.busy) {
			return nil, search.Errorf("Index %s was dropped while the request was under way", s.Name)
		}
	case t.suspended != nil:
		if d.limit = p.Memory; !e.again(t) {
			return nil, t.suspended
		}
	case t.scanned && d.reached(p.Index):
		return t, nil
	}
	return nil, nil
}

// task is the index of a definition of the database of a number, nil if there is none.
func (d *database) task(number, serial uint64) *task {
	if d == nil || d.number != number {
		return nil
	}
	for _, t := range d.tasks {
		if t.def.Serial == serial {
			return t
		}
	}
	return nil
}

// reached reports whether the indexes of a database that were scanned have everything up to an entry that was told.
func (d *database) reached(index uint64) bool {
	return d.done >= index || !d.busy && !d.renew && !d.flushed && len(d.keys)+len(d.names) == 0
}

// at waits until the index of a definition has reached a point, and returns it with its lock held for reading.
func (e *Engine) at(p search.Point, d *search.Definition, limit time.Duration) (*task, error) {
	var expired <-chan time.Time
	for {
		e.mu.Lock()
		t, err := e.find(p, d)
		pending, moved := e.pending(p, d), e.moved
		e.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if t != nil {
			t.mu.RLock()
			if e.holds(t) {
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
		case <-e.closed:
			return nil, errStopped
		case <-expired:
			return nil, search.Errorf("Index %s is being built on this node, %s left; SEARCH.WAITINDEXING waits for it", d.Name, plural.Of(pending, "key"))
		}
	}
}

// holds reports whether an index has its place.
func (e *Engine) holds(t *task) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !t.gone
}

// pending returns about how many keys are still to be looked at for an index; e.mu is held.
func (e *Engine) pending(p search.Point, s *search.Definition) int64 {
	d := e.databases[p.Name]
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

// Query finds documents.
func (e *Engine) Query(p search.Point, d *search.Definition, q *search.Query) (*search.Hits, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return nil, err
	}
	defer t.mu.RUnlock()
	b := e.newBudget(p)
	defer b.settle()
	return t.query(q, p.Now, b)
}

// Count counts documents.
func (e *Engine) Count(p search.Point, d *search.Definition, filter []byte) (int64, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return 0, err
	}
	defer t.mu.RUnlock()
	b := e.newBudget(p)
	defer b.settle()
	return t.count(filter, p.Now, b)
}

// Aggregate computes aggregations.
func (e *Engine) Aggregate(p search.Point, d *search.Definition, filter, aggregations []byte) (reply.Value, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return reply.Value{}, err
	}
	defer t.mu.RUnlock()
	b := e.newBudget(p)
	defer b.settle()
	return t.aggregate(filter, aggregations, p.Now, b)
}

// Wait waits for an index as long as the answer is wanted.
func (e *Engine) Wait(p search.Point, d *search.Definition) error {
	t, err := e.at(p, d, 0)
	if err == nil {
		t.mu.RUnlock()
	}
	return err
}

// Status says how far an index is.
func (e *Engine) Status(p search.Point, d *search.Definition) search.Status {
	s := search.Status{}
	_, stemmed := stemmers[d.Language]
	s.Unstemmed = !stemmed
	e.mu.Lock()
	t := e.databases[p.Name].task(p.Database, d.Serial)
	s.Pending = e.pending(p, d)
	if t != nil {
		s.Suspended = t.suspended
	}
	e.mu.Unlock()
	if t != nil && t.suspended == nil {
		t.mu.RLock()
		s.Documents, s.Bytes, s.LeftOut = int64(t.live()), t.bytes, t.leftOut
		t.mu.RUnlock()
	}
	return s
}
