package resp

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"trireme/fsm"
	"trireme/fsm/command"
	"trireme/fsm/env"
)

// tracker knows which connections of this node keep copies of which keys, and tells them
// when the node's own applies change those (CLIENT TRACKING). docs/design/tracking.md has
// the argument why no change is missed.
type tracker struct {
	s    *Server
	most int // keys that are remembered
	wake chan struct{}
	done chan struct{} // closed when run has ended

	mu    sync.Mutex
	conns map[*tracked]struct{}
	keys  map[place]map[*tracked]struct{}
	held  atomic.Int64 // keys, readable without the lock
	queue []env.Note
	seen  uint64 // log index of the last note that was dealt with
}

// origin names a request of the log.
type origin struct {
	index uint64
	place int
}

// tracked is a connection whose reads are tracked. What it is asked for never changes; the
// rest belongs to the tracker's lock.
type tracked struct {
	c        *conn
	db       string
	options  trackingOptions
	busy     bool     // it has run what it has not answered yet
	pending  []change // what to tell when it has answered
	own      map[origin]struct{}
	broken   bool // there is nobody to redirect to any more
	prefixes []string
}

// change is a key that has changed, or all of them.
type change struct {
	key string
	all bool
	by  origin
}

func newTracker(s *Server) *tracker {
	return &tracker{
		s: s, most: s.limits.TrackedKeys, wake: make(chan struct{}, 1), done: make(chan struct{}),
		conns: map[*tracked]struct{}{}, keys: map[place]map[*tracked]struct{}{},
	}
}

// begin tracks a connection. What it reads from now on is noted when it changes.
func (r *tracker) begin(t *tracked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.conns) == 0 {
		r.s.engine.Track(true)
	}
	r.conns[t] = struct{}{}
}

// change gives a connection other options, and more prefixes.
func (r *tracker) change(t *tracked, options trackingOptions, prefixes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	options.optIn, options.optOut = options.optIn || t.options.optIn, options.optOut || t.options.optOut
	t.options, t.prefixes, t.broken = options, append(t.prefixes, prefixes...), false
}

// end forgets a connection; the keys that it has read are forgotten when they change.
func (r *tracker) end(t *tracked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.conns[t]; !there {
		return
	}
	delete(r.conns, t)
	if len(r.conns) == 0 {
		r.s.engine.Track(false)
		clear(r.keys)
		r.held.Store(0)
		r.queue = nil
	}
}

// remember notes that a connection is about to read keys. Until it has answered, what
// changes waits, so that the client hears of a change behind the copy that it makes void.
func (r *tracker) remember(t *tracked, keys []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.busy = true
	for _, key := range keys {
		at := place{t.db, key}
		holders := r.keys[at]
		if holders == nil {
			r.bound()
			holders = map[*tracked]struct{}{}
			r.keys[at] = holders
		}
		holders[t] = struct{}{}
	}
	r.held.Store(int64(len(r.keys)))
}

// bound makes room for a key: one that is forgotten counts as changed. The lock is held.
func (r *tracker) bound() {
	for at := range r.keys { // unordered: any key will do
		if len(r.keys) < r.most {
			return
		}
		r.changed(at, origin{})
		r.stir() // tells those who don't answer anything right now
	}
}

// hold lets what changes wait until a connection, which is about to run something, has
// answered it.
func (r *tracker) hold(t *tracked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.busy = true
}

// wrote says which request was a connection's own: it hears nothing of what that changed,
// whether the apply was here before the answer or comes behind it.
func (r *tracker) wrote(t *tracked, by origin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := t.pending[:0]
	for _, p := range t.pending {
		if p.by != by {
			left = append(left, p)
		}
	}
	t.pending = left
	for o := range t.own { // unordered: each by itself
		if o.index < r.seen {
			delete(t.own, o)
		}
	}
	if by.index >= r.seen {
		if t.own == nil {
			t.own = map[origin]struct{}{}
		}
		t.own[by] = struct{}{}
	}
}

// settle tells a connection, which has answered everything, what has changed meanwhile.
func (r *tracker) settle(t *tracked) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.busy = false
	r.deliver(t)
}

// notes takes in what applies have touched; run deals with it.
func (r *tracker) notes(notes []env.Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.conns) == 0 {
		return
	}
	for i := range notes {
		switch notes[i].Kind {
		case env.Touched, env.Flushed, env.Deleted:
			r.queue = append(r.queue, notes[i])
		}
	}
	r.stir()
}

func (r *tracker) stir() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// all tells every connection that anything may have changed: a snapshot has replaced the
// state.
func (r *tracker) all() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = nil
	clear(r.keys)
	for t := range r.conns { // unordered: each by itself
		t.pending = append(t.pending[:0], change{all: true})
		r.deliver(t)
	}
}

// run deals with notes until ctx ends.
func (r *tracker) run(ctx context.Context) {
	defer close(r.done)
	for {
		select {
		case <-r.wake:
			r.round()
		case <-ctx.Done():
			return
		}
	}
}

// round deals with the notes that have gathered.
func (r *tracker) round() {
	r.mu.Lock()
	defer r.mu.Unlock()
	notes := r.queue
	r.queue = nil
	for i := range notes {
		n := &notes[i]
		by := origin{n.Index, n.Place}
		if n.Kind == env.Touched {
			r.changed(place{n.DB, n.Channel}, by)
			r.broad(n.DB, n.Channel, by)
		} else {
			r.flushed(n.DB)
		}
		r.seen = max(r.seen, n.Index)
	}
	r.held.Store(int64(len(r.keys)))
	for t := range r.conns { // unordered: each by itself
		r.deliver(t)
	}
}

// changed tells those who have read a key; it is forgotten, but for who has changed it, or
// may turn out to have, and doesn't want to hear of that: the next change is another's.
func (r *tracker) changed(at place, by origin) {
	holders := r.keys[at]
	delete(r.keys, at)
	for t := range holders { // unordered: each by itself
		if _, there := r.conns[t]; !there {
			continue
		}
		own := r.owns(t, by)
		if own || (t.options.noLoop && t.busy && by.index != 0) {
			r.keep(at, t)
		}
		if own {
			continue
		}
		t.pending = append(t.pending, change{key: at.key, by: by})
	}
}

// keep remembers that a connection holds a key; the lock is held.
func (r *tracker) keep(at place, t *tracked) {
	if r.keys[at] == nil {
		r.keys[at] = map[*tracked]struct{}{}
	}
	r.keys[at][t] = struct{}{}
}

// broad tells those who want to hear of every key with a prefix.
func (r *tracker) broad(db, key string, by origin) {
	for t := range r.conns { // unordered: each by itself
		if t.options.broad && t.db == db && t.wants(key) && !r.owns(t, by) {
			t.pending = append(t.pending, change{key: key, by: by})
		}
	}
}

func (t *tracked) wants(key string) bool {
	for _, p := range t.prefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return len(t.prefixes) == 0
}

// owns tells whether a connection that doesn't want to hear of what it writes has written
// that.
func (r *tracker) owns(t *tracked, by origin) bool {
	_, own := t.own[by]
	return own && by.index != 0
}

// flushed tells all connections of a database that every key is gone.
func (r *tracker) flushed(db string) {
	for at := range r.keys { // unordered: each by itself
		if at.db == db {
			delete(r.keys, at)
		}
	}
	for t := range r.conns { // unordered: each by itself
		if t.db == db {
			t.pending = append(t.pending[:0], change{all: true})
		}
	}
}

// permitted leaves out keys that the connection's user may not read; those that it has read
// itself it knows. It is not ok if the user is nobody any more.
func (t *tracked) permitted(changes []change) (left []change, ok bool) {
	left = changes[:0]
	t.c.s.engine.Local(func(v *fsm.View) {
		as := t.c.info.get().as
		ok = v.Authorized(as)
		for _, p := range changes {
			if ok && !p.all && t.options.broad {
				if _, refusal := v.Check(as, command.RESP, [][]byte{[]byte("GET"), []byte(p.key)}); refusal != nil {
					continue
				}
			}
			left = append(left, p)
		}
	})
	return left, ok
}
