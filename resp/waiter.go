package resp

import (
	"container/list"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// waiter is a blocking call that waits on this node.
type waiter struct {
	as   acl.Identity
	db   string
	row  *command.Command
	argv [][]byte // its own
	keys []string
	done chan reply.Value // receives the answer, once

	tracked *tracked // of its connection, nil without; its own changes are pushed after the answer

	// Under the registry's lock.
	places   []*place     // in the queues of its keys
	arrived  bool         // its call has seen the state, and waits for what comes
	proposed bool         // its call is under way in the log
	answered bool         // done has received the answer
	parked   *conn        // that waits for the answer without a goroutine, nil if it has one
	turn     uint64       // counts the goroutines that its connection had
	fallback *reply.Value // the answer if the proposed call takes nothing
}

// A place is the position of a waiter in the queue of one of its keys. The waiter's call is tried for
// the key only if the key was touched since the last try.
type place struct {
	w       *waiter
	q       *queue
	element *list.Element
	tried   uint64 // blockedClients.notified when its call was proposed last, 0 for never

	// triedIndex is the log index at which its call found nothing last. An element in the state there, or later, stands for a
	// notification that is still to come.
	triedIndex uint64
}

// A queue holds the waiters of a key in the order of their arrival.
type queue struct {
	dbKey
	waiters      list.List // of *place
	ready        bool      // it is among the registry's ready queues
	touched      uint64    // blockedClients.notified when the key was touched last, or the queue was made
	checkedIndex uint64    // the log index at which a waiter took an element or found none
	held         int       // how many calls on it wait for a pause: see hold
}

// dbKey is a key of a database.
type dbKey struct{ db, key string }

// enqueue adds a waiter to the queues of its keys, and reports whether it is the first in
// all of them.
func (bc *blockedClients) enqueue(w *waiter) (first bool) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	if len(bc.queues) == 0 {
		bc.s.engine.Track(true)
	}
	first = true
	for _, key := range w.keys {
		at := dbKey{w.db, key}
		q := bc.queues[at]
		if q == nil {
			q = &queue{dbKey: at, touched: bc.notified}
			bc.queues[at] = q
		}
		first = first && q.waiters.Len() == 0
		p := &place{w: w, q: q}
		p.element = q.waiters.PushBack(p)
		w.places = append(w.places, p)
	}
	return first
}

// setCall replaces a waiter's call by its resolved form (XREAD's $ by an id), unless the
// call is under way already. With claim it reserves the call for its connection in the same
// step, so that the registry neither proposes it too nor ends its wait for what the call is
// about to report. claimed is false if the registry was first or the wait is over.
func (bc *blockedClients) setCall(w *waiter, call [][]byte, claim bool) (claimed bool) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	if !w.proposed {
		w.argv = call
	}
	if claim && !w.proposed && !w.answered {
		w.proposed, claimed = true, true
		for _, p := range w.places {
			p.tried = bc.notified
		}
	}
	w.arrived = true
	if w.row.Wait.Lost != nil && !w.answered { // what became of its keys before was not looked at
		bc.recheckLocked(w)
	}
	return claimed
}

// dequeue removes a waiter from all queues; the lock is held.
func (bc *blockedClients) dequeue(w *waiter) {
	for _, p := range w.places {
		p.q.waiters.Remove(p.element)
		if p.q.waiters.Len() == 0 {
			delete(bc.queues, p.q.dbKey)
		}
	}
	w.places = nil
	bc.recheckLocked(w)
	if len(bc.queues) == 0 {
		bc.s.engine.Track(false)
	}
}

// answer ends a wait; the lock is held.
func (bc *blockedClients) answer(w *waiter, v reply.Value) {
	w.answered, w.proposed = true, false
	bc.dequeue(w)
	w.done <- v
	if w.parked != nil {
		bc.s.parked.loop.Reclaim(parked{w.parked})
	}
}

// park has the answer to a waiter give its connection a goroutine. It does nothing if the connection has had another one since
// the turn began.
func (bc *blockedClients) park(w *waiter, c *conn, turn uint64) {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	switch {
	case w.turn != turn:
	case w.answered:
		bc.s.parked.loop.Reclaim(parked{c})
	default:
		w.parked = c
	}
}

// unpark is called by a connection that has a goroutine again, and returns the number of its turn.
func (bc *blockedClients) unpark(w *waiter) uint64 {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	w.parked = nil
	w.turn++
	return w.turn
}

// release ends a wait with v, unless the waiter's call is under way in the log and takes an
// element: then the element is the answer. It is false if the wait was ended before.
func (bc *blockedClients) release(w *waiter, v reply.Value) bool {
	bc.mu.Lock()
	defer bc.mu.Unlock()
	switch {
	case w.answered:
		return false
	case !w.proposed:
		bc.answer(w, v)
	case w.fallback != nil:
		return false
	default:
		w.fallback = &v
	}
	return true
}
