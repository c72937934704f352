package resp

import (
	"container/list"

	"trireme/fsm/acl"
	"trireme/fsm/command"
	"trireme/fsm/reply"
)

// waiter is a blocking call that waits on this node.
type waiter struct {
	as   acl.Identity
	db   string
	row  *command.Command
	argv [][]byte // its own
	keys []string
	done chan reply.Value // receives the answer, once

	// Under the room's lock.
	places  []*list.Element // in the queues of its keys
	trying  bool            // the log has its call
	over    bool            // it has its answer
	instead *reply.Value    // its answer if the call that the log has takes nothing
}

// queue is who waits for a key, first come first.
type queue struct {
	place
	waiters list.List // of *waiter
	ready   bool      // it stands among the room's ready ones
}

// place is a key of a database.
type place struct{ db, key string }

// enter puts a waiter behind those who wait for its keys, and tells whether it is the
// first everywhere.
func (r *room) enter(w *waiter) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queues) == 0 {
		r.s.engine.Track(true)
	}
	first = true
	for _, key := range w.keys {
		at := place{w.db, key}
		q := r.queues[at]
		if q == nil {
			q = &queue{place: at}
			r.queues[at] = q
		}
		first = first && q.waiters.Len() == 0
		w.places = append(w.places, q.waiters.PushBack(w))
	}
	return first
}

// means replaces a waiter's call by what it means, unless it is tried already.
func (r *room) means(w *waiter, call [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !w.trying {
		w.argv = call
	}
}

// claim keeps the room from trying a waiter's call, because its connection does; it is
// false if the room was quicker.
func (r *room) claim(w *waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	claimed := !w.trying && !w.over
	w.trying = w.trying || claimed
	return claimed
}

// leave takes a waiter out of all queues; the lock is held.
func (r *room) leave(w *waiter) {
	for i, key := range w.keys {
		at := place{w.db, key}
		q := r.queues[at]
		q.waiters.Remove(w.places[i])
		if q.waiters.Len() == 0 {
			delete(r.queues, at)
		}
	}
	w.places = nil
	r.lookAt(w)
	if len(r.queues) == 0 {
		r.s.engine.Track(false)
	}
}

// answer ends a wait; the lock is held.
func (r *room) answer(w *waiter, v reply.Value) {
	w.over, w.trying = true, false
	r.leave(w)
	w.done <- v
}

// release ends a wait with v, unless the log has the call right now and it takes something.
// It is false if the wait is over already.
func (r *room) release(w *waiter, v reply.Value) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case w.over:
		return false
	case !w.trying:
		r.answer(w, v)
	case w.instead == nil:
		w.instead = &v
	}
	return true
}
