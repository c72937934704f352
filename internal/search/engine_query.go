package search

import (
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
	"github.com/trireme-dev/trireme/internal/plural"
)

// at waits until the index of a definition has reached a point.
func (e *Engine) at(p search.Point, d *search.Definition, limit time.Duration) (*task, error) {
	var expired <-chan time.Time
	for {
		e.mu.Lock()
		t := e.all[key{p.Database, d.Serial}]
		ready := t != nil && t.scanned && e.done >= p.Index
		if e.done > p.Index && t == nil && !e.renew {
			e.mu.Unlock()
			return nil, search.Errorf("Index %s was dropped while the request was under way", d.Name)
		}
		pending, moved := e.pending(t), e.moved
		e.mu.Unlock()
		if ready {
			return t, nil
		}
		e.signal()
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
			return nil, search.Error("the node is stopping")
		case <-expired:
			return nil, search.Errorf("Index %s is being built on this node, %s left; SEARCH.WAITINDEXING waits for it", d.Name, plural.Of(pending, "key"))
		}
	}
}

// pending is how many keys are to be looked at for an index; the lock is held.
func (e *Engine) pending(t *task) int64 {
	if t == nil {
		return 0
	}
	n := int64(len(t.scan))
	if c := e.dirty[t.name]; c != nil {
		n += int64(len(c.keys))
	}
	return n
}

// Query finds documents.
func (e *Engine) Query(p search.Point, d *search.Definition, q *search.Query) (*search.Hits, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.query(q, p.Now, e.newBudget(p))
}

// Count counts documents.
func (e *Engine) Count(p search.Point, d *search.Definition, filter []byte) (int64, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return 0, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.count(filter, p.Now, e.newBudget(p))
}

// Aggregate computes aggregations.
func (e *Engine) Aggregate(p search.Point, d *search.Definition, filter, aggregations []byte) (reply.Value, error) {
	t, err := e.at(p, d, maxWait)
	if err != nil {
		return reply.Value{}, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.aggregate(filter, aggregations, p.Now, e.newBudget(p))
}

// Wait waits for an index as long as the answer is wanted.
func (e *Engine) Wait(p search.Point, d *search.Definition) error {
	_, err := e.at(p, d, 0)
	return err
}

// Status says how far an index is.
func (e *Engine) Status(p search.Point, d *search.Definition) search.Status {
	s := search.Status{}
	_, stemmed := stemmers[d.Language]
	s.Unstemmed = !stemmed
	e.mu.Lock()
	t := e.all[key{p.Database, d.Serial}]
	s.Pending = e.pending(t)
	e.mu.Unlock()
	if t != nil {
		t.mu.RLock()
		s.Documents, s.Bytes, s.LeftOut = int64(t.live()), t.bytes, t.leftOut
		t.mu.RUnlock()
	}
	return s
}
