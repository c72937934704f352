package resp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/fsm/env"
	"trireme/fsm/reply"
)

// room is where blocking calls of this node wait. When something is stored under a key
// that somebody waits for, the calls of as many waiters as there are elements go into the
// log, in the order in which they came; who got nothing there waits on.
// docs/design/blocking.md has the argument.
type room struct {
	s    *Server
	wake chan struct{}
	done chan struct{} // closed when run has ended

	mu     sync.Mutex
	queues map[place]*queue
	ready  []*queue
}

func newRoom(s *Server) *room {
	return &room{s: s, wake: make(chan struct{}, 1), done: make(chan struct{}), queues: map[place]*queue{}}
}

// notes takes in what applies have touched.
func (r *room) notes(notes []env.Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range notes {
		switch n := &notes[i]; n.Kind {
		case env.Touched:
			if q := r.queues[place{n.DB, n.Channel}]; q != nil {
				r.mark(q)
			}
		case env.Deleted, env.Flushed:
			r.markAll(func(q *queue) bool { return q.db == n.DB })
		}
	}
}

// all has every queue looked at: what has happened meanwhile is not known.
func (r *room) all() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.markAll(func(*queue) bool { return true })
}

func (r *room) markAll(match func(*queue) bool) {
	for _, q := range r.queues { // unordered: each key by itself
		if match(q) {
			r.mark(q)
		}
	}
}

// look has the queues of a waiter looked at.
func (r *room) look(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lookAt(w)
}

func (r *room) lookAt(w *waiter) {
	for _, key := range w.keys {
		if q := r.queues[place{w.db, key}]; q != nil {
			r.mark(q)
		}
	}
}

// mark puts a queue among the ready ones; the lock is held.
func (r *room) mark(q *queue) {
	if !q.ready {
		q.ready = true
		r.ready = append(r.ready, q)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run serves waiters until ctx ends.
func (r *room) run(ctx context.Context) {
	defer close(r.done)
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			return
		}
		for r.round(ctx) {
		}
	}
}

// mostTries bounds how many calls one round brings to the log.
const mostTries = 500

// try is a waiter's call on the key that may have something for it.
type try struct {
	w   *waiter
	q   *queue
	row [][]byte
}

// round serves the queues that are ready. It is false if there was nothing to do.
func (r *room) round(ctx context.Context) bool {
	tries := r.choose()
	for len(tries) > 0 && ctx.Err() == nil {
		n := 1
		for n < len(tries) && tries[n].w.as == tries[0].w.as && tries[0].w.row.Flags&command.Write != 0 && tries[n].w.row.Flags&command.Write != 0 {
			n++
		}
		r.serve(tries[:n])
		if tries = tries[n:]; len(tries) == 0 {
			return true
		}
	}
	return false
}

// choose takes the waiters who may be served now, in the order in which they came to
// each key.
func (r *room) choose() (tries []try) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ready := r.ready
	r.ready = nil
	r.s.engine.Local(func(v *fsm.View) {
		for _, q := range ready {
			q.ready = false
			if tries = q.choose(v, tries); len(tries) >= mostTries {
				r.mark(q)
			}
		}
	})
	return tries
}

// choose adds the waiters of a key for whom it may have something.
func (q *queue) choose(v *fsm.View, tries []try) []try {
	taken := 0
	for at := q.waiters.Front(); at != nil && len(tries) < mostTries; at = at.Next() {
		w := at.Value.(*waiter)
		if w.trying { // and comes first
			taken++
			continue
		}
		has := v.Available(w.as, command.RESP, w.row, w.argv, q.key)
		if has == 0 || (w.row.Wait.Ready == nil && taken >= has) {
			continue
		}
		taken++
		w.trying = true
		tries = append(tries, try{w, q, w.row.On(w.argv, []byte(q.key))})
	}
	return tries
}

// serve runs calls of one user and answers those that took something.
func (r *room) serve(tries []try) {
	rows := make([][][]byte, len(tries))
	for i := range tries {
		rows[i] = tries[i].row
	}
	values, err := r.call(tries[0].w, rows)
	for i := range tries {
		if err != nil {
			r.failed(tries[i].w, err)
			continue
		}
		r.settle(tries[i].w, values[i], false)
	}
}

// failed ends a try whose outcome is an error of the engine.
func (r *room) failed(w *waiter, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(err, fsm.ErrNoLeader) && w.instead == nil { // not applied: it is tried again
		w.trying = false
		time.AfterFunc(tryAgain, func() { r.look(w) })
		return
	}
	r.answer(w, failureOf(err, true))
}

// tryAgain is the pause after calls that found no leader.
const tryAgain = 100 * time.Millisecond

// call runs rows as the waiter's user.
func (r *room) call(w *waiter, rows [][][]byte) ([]reply.Value, error) {
	s := r.s
	if w.row.Flags&command.Write == 0 {
		var values []reply.Value
		_, err := s.engine.Read(s.life, fsm.Reading{}, func(v *fsm.View) {
			values = values[:0]
			for _, row := range rows {
				values = append(values, v.Exec(w.as, command.RESP, row))
			}
		})
		return values, err
	}
	batch := fsm.Batch{As: w.as, Door: command.RESP, Mode: fsm.Pipeline, Rows: rows}
	if len(rows) == 1 {
		batch.Mode = fsm.Single
	}
	results, err := fsm.Do(s.life, s.engine, fsm.Exec, batch)
	return results.Values, err
}

// settle ends a try. Whether it took something or not, others may have to be looked at. A
// key whose type has changed since the call came in has nothing for anybody; a call that
// has just come in is told.
func (r *room) settle(w *waiter, v reply.Value, arriving bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	mistake := v.IsError() && strings.HasPrefix(v.Text(), "WRONGTYPE ")
	switch {
	case !v.IsNil() && (!mistake || arriving):
		r.answer(w, v)
	case w.instead != nil:
		r.answer(w, *w.instead)
	default:
		w.trying = false
		r.lookAt(w)
	}
}
