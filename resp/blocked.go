package resp

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// blockedClients is the registry of blocking calls that wait on this node. When something
// is stored under a key with waiters, the calls of as many waiters as there are elements go
// into the log, first come first served; a waiter whose call took nothing waits on.
// docs/design/blocking.md has the argument.
type blockedClients struct {
	s    *Server
	wake chan struct{}
	done chan struct{} // closed when run has ended

	mu       sync.Mutex
	queues   map[dbKey]*queue
	ready    []*queue
	notified uint64 // 1 + the number of calls of notify and recheckAll
}

func newBlockedClients(s *Server) *blockedClients {
	return &blockedClients{s: s, wake: make(chan struct{}, 1), done: make(chan struct{}), queues: map[dbKey]*queue{}, notified: 1}
}

// notify marks the queues of keys that applies have touched.
func (bc *blockedClients) notify(notes []env.Notification) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	bc.notified++
	for i := range notes {
		switch n := &notes[i]; n.Kind {
		case env.KeyTouched:
			if q := bc.queues[dbKey{n.DB, n.Channel}]; q != nil {
				bc.touch(q)
			}
		case env.Deleted, env.Flushed:
			bc.touchAll(func(q *queue) bool { return q.db == n.DB })
		}
	}
}

// recheckAll marks every queue: a snapshot has replaced the state, and what changed is
// unknown.
func (bc *blockedClients) recheckAll() {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	bc.notified++
	bc.touchAll(func(*queue) bool { return true })
}

func (bc *blockedClients) touchAll(match func(*queue) bool) {
	for _, q := range bc.queues { // unordered: each key by itself
		if match(q) {
			bc.touch(q)
		}
	}
}

// touch marks a queue so that its waiters try their calls once more; the lock is held.
func (bc *blockedClients) touch(q *queue) {
	q.touched = bc.notified
	bc.markReady(q)
}

// recheck marks the queues of a waiter's keys as ready. A waiter whose keys were not touched does not try again (place.tried).
func (bc *blockedClients) recheck(w *waiter) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	bc.recheckLocked(w)
}

func (bc *blockedClients) recheckLocked(w *waiter) {
	for _, key := range w.keys {
		if q := bc.queues[dbKey{w.db, key}]; q != nil {
			bc.markReady(q)
		}
	}
}

// markReady adds a queue to the ready ones and wakes run; the lock is held.
func (bc *blockedClients) markReady(q *queue) {
	if !q.ready {
		q.ready = true
		bc.ready = append(bc.ready, q)
	}
	select {
	case bc.wake <- struct{}{}:
	default:
	}
}

// run serves waiters until ctx ends.
func (bc *blockedClients) run(ctx context.Context) {
	defer close(bc.done)
	for {
		select {
		case <-bc.wake:
		case <-ctx.Done():
			return
		}
		for bc.round(ctx) {
		}
	}
}

// maxAttempts bounds how many calls one round proposes.
const maxAttempts = 500

// attempt is a waiter's call restricted to the key that may have an element for it.
type attempt struct {
	*place
	row [][]byte
}

// round serves the queues that are ready. It is false if there was nothing to do.
func (bc *blockedClients) round(ctx context.Context) bool {
	attempts := bc.selectReady()
	bc.deferDeliveries(attempts)
	for len(attempts) > 0 && ctx.Err() == nil {
		n := 1
		for n < len(attempts) && attempts[n].w.as == attempts[0].w.as && attempts[0].w.row.Flags&command.Write != 0 && attempts[n].w.row.Flags&command.Write != 0 {
			n++
		}
		bc.serve(attempts[:n])
		if attempts = bc.withoutHeld(attempts[n:]); len(attempts) == 0 {
			return true
		}
	}
	return false
}

// withoutHeld returns the attempts whose queues are not held by an earlier attempt of the round (hold), and releases the others.
func (bc *blockedClients) withoutHeld(attempts []attempt) []attempt {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	return slices.DeleteFunc(attempts, func(a attempt) bool {
		if a.q.held == 0 {
			return false
		}
		a.w.proposed, a.tried = false, 0
		bc.resumeDelivery(a.w)
		return true
	})
}

// serveDecision collects the decisions of one pass over the state. The engine may run the pass again, which discards the
// decisions of the first, so a pass changes nothing else.
type serveDecision struct {
	attempts   []attempt
	chosen     map[*waiter]bool         // those of the attempts
	ended      map[*waiter]*reply.Value // whose waits end, with what
	unfinished []*queue                 // not examined to the end
}

// selectReady returns the calls of waiters that may be served now, first come first served
// for each key, and ends the waits of those whose key is no longer what they wait for.
func (bc *blockedClients) selectReady() []attempt {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	ready := bc.ready
	bc.ready = nil
	var c serveDecision
	bc.s.engine.Local(func(v *fsm.View) {
		c = serveDecision{chosen: map[*waiter]bool{}, ended: map[*waiter]*reply.Value{}}
		for _, q := range ready {
			if c.selectWaiters(q, v); len(c.attempts) >= maxAttempts {
				c.unfinished = append(c.unfinished, q)
			}
		}
	})
	for _, q := range ready {
		q.ready = false
	}
	for _, q := range c.unfinished {
		bc.markReady(q)
	}
	for _, a := range c.attempts {
		a.w.proposed, a.tried = true, bc.notified
	}
	for w, v := range c.ended { // unordered: each client by itself
		bc.answer(w, *v)
	}
	return c.attempts
}

// selectWaiters adds the waiters of a key that may be served, and those whose waits end, to the choice.
func (d *serveDecision) selectWaiters(q *queue, v *fsm.View) {
	if q.held > 0 || v.Index() < q.checkedIndex { // what holds it, and the notification of what is missing here, mark the queue again
		return
	}
	taken := 0
	for at := q.waiters.Front(); at != nil && len(d.attempts) < maxAttempts; at = at.Next() {
		p := at.Value.(*place)
		w := p.w
		if d.ended[w] != nil {
			continue
		}
		if w.proposed { // by its own connection: no later waiter enters the log before it
			return
		}
		if d.chosen[w] { // its call may take an element first
			taken++
			continue
		}
		if w.arrived {
			if lost := v.Lost(w.as, w.row, w.argv, q.key); lost != nil {
				d.ended[w] = lost
				continue
			}
		}
		again := p.tried < q.touched
		if !again && v.Index() < p.triedIndex {
			continue
		}
		has := v.Available(w.as, command.RESP, w.row, w.argv, q.key)
		if has == 0 || (w.row.Wait.Ready == nil && taken >= has) {
			continue
		}
		if !again { // its notification comes, and nobody behind gets the element before
			return
		}
		if refusal := v.Refused(w.as, w.row, w.argv); refusal != nil { // the element is for the next
			d.ended[w] = refusal
			continue
		}
		taken++
		d.chosen[w] = true
		d.attempts = append(d.attempts, attempt{p, w.row.On(w.argv, []byte(q.key))})
	}
}

// deferDeliveries holds the invalidations of waiters back while their calls are under way, so that a
// client learns of its own changes after the answer. Earlier changes of others are pushed first.
func (bc *blockedClients) deferDeliveries(attempts []attempt) {
	processed := false
	for i := range attempts {
		t := attempts[i].w.tracked
		if t == nil {
			continue
		}
		if !processed {
			bc.s.tracker.processQueue()
			processed = true
		}
		bc.s.tracker.deferDelivery(t)
	}
}

// resumeDelivery sends the invalidations that deferDeliveries has held back, for a waiter that waits on.
func (bc *blockedClients) resumeDelivery(w *waiter) {
	if w.tracked != nil {
		bc.s.tracker.deliverDeferred(w.tracked)
	}
}

// serve runs calls of one user and answers those that took an element.
func (bc *blockedClients) serve(attempts []attempt) {
	rows := make([][][]byte, len(attempts))
	for i := range attempts {
		rows[i] = attempts[i].row
	}
	values, index, err := bc.call(attempts[0].w, rows)
	for i := range attempts {
		if err != nil {
			bc.failAttempt(attempts[i].w, err)
			continue
		}
		bc.finishAttempt(attempts[i].w, values[i], attempts[i].place, index)
	}
}

// failAttempt ends an attempt that the engine failed.
func (bc *blockedClients) failAttempt(w *waiter, err error) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	if errors.Is(err, fsm.ErrNoLeader) && w.fallback == nil { // not applied
		bc.hold(w)
		return
	}
	bc.answer(w, failureOf(err, true))
}

// retryDelay is the pause before a call is tried again although its keys were not touched.
const retryDelay = 100 * time.Millisecond

// hold makes a waiter try its call again after retryDelay. Until then none of its queues is served, so that later waiters
// can't overtake it. The lock is held.
func (bc *blockedClients) hold(w *waiter) {
	held := make([]*queue, len(w.places)) // the waiter may leave meanwhile
	for i, p := range w.places {
		held[i] = p.q
		p.q.held++
		p.tried = 0
	}
	w.proposed = false
	bc.resumeDelivery(w)
	time.AfterFunc(retryDelay, func() {
		bc.mu.Lock()
		defer bc.mu.Unlock()
		for _, q := range held {
			q.held--
			bc.markReady(q)
		}
	})
}

// retryLater makes a waiter try its call again after retryDelay. Its queues are served meanwhile. The lock is held.
func (bc *blockedClients) retryLater(w *waiter) {
	w.proposed = false
	bc.resumeDelivery(w)
	for _, p := range w.places {
		p.triedIndex = math.MaxUint64
	}
	time.AfterFunc(retryDelay, func() {
		bc.mu.Lock()
		defer bc.mu.Unlock()
		for _, p := range w.places {
			p.tried = 0
		}
		bc.recheckLocked(w)
	})
}

// call runs rows as the waiter's user. index is the log index at which they ran.
func (bc *blockedClients) call(w *waiter, rows [][][]byte) (values []reply.Value, index uint64, err error) {
	s := bc.s
	if w.row.Flags&command.Write == 0 {
		at, err := s.engine.Read(s.life, fsm.Reading{}, func(v *fsm.View) {
			values = values[:0]
			for _, row := range rows {
				values = append(values, v.Exec(w.as, command.RESP, row))
			}
		})
		return values, at.Index, err
	}
	batch := fsm.Batch{As: w.as, Origin: command.RESP, Mode: fsm.Pipeline, Rows: rows}
	if len(rows) == 1 {
		batch.Mode = fsm.Single
	}
	results, err := fsm.Do(s.life, s.engine, fsm.Exec, batch)
	if err == nil && len(results.Values) != len(rows) {
		err = errMiscounted
	}
	return results.Values, results.Index, err
}

// finishAttempt ends an attempt in one of the waiter's places, or on all keys of a call that has just
// arrived (nil), at a log index: an element or an error answers the waiter, null lets it wait on. A key of
// another type has nothing for waiters, while a call that has just arrived is answered with
// the error. Of a move the error may be about either key; selectWaiters answers the one about
// its target, once this node has the state in which that is wrong.
func (bc *blockedClients) finishAttempt(w *waiter, v reply.Value, p *place, index uint64) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	wrongType := p != nil && v.IsError() && strings.HasPrefix(v.Text(), "WRONGTYPE ")
	if p != nil && w.row.Wait.Ready == nil && !v.IsError() {
		p.q.checkedIndex = max(p.q.checkedIndex, index)
	}
	for _, tried := range w.places {
		if p == nil || p == tried {
			tried.triedIndex = index
		}
	}
	switch {
	case !v.IsNil() && !wrongType:
		bc.answer(w, v)
	case w.fallback != nil:
		bc.answer(w, *w.fallback)
	case wrongType && w.row.Wait.Into > 0:
		bc.retryLater(w)
		bc.recheckLocked(w) // for those behind it
	default:
		w.proposed = false
		bc.resumeDelivery(w)
		bc.recheckLocked(w)
	}
}
