package resp

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
)

// tracker is the invalidation table of this node: which connections have cached which keys
// (CLIENT TRACKING). It invalidates them when the node's own applies change the keys.
// docs/design/tracking.md has the argument why no change is missed.
type tracker struct {
	s       *Server
	maxKeys int // bound of keys
	bytes   int // of the names of keys
	wake    chan struct{}
	done    chan struct{} // closed when run has ended

	mu      sync.Mutex
	conns   map[*tracked]struct{}
	keys    map[dbKey]map[*tracked]struct{}
	tracked atomic.Int64   // len(keys), readable without the lock
	byDB    map[string]int // keys of each database
	scripts int            // of all connections, under way
	queue   []env.Notification
	seen    uint64 // log index of the last notification processed
}

// origin identifies a request of the log.
type origin struct {
	index uint64
	pos   int
}

// tracked is a connection with tracking on. c and db never change; the rest is under the
// tracker's lock.
type tracked struct {
	c        *conn
	db       string
	options  trackingOptions
	stay     map[string]bool // keys that stay tracked while it is busy
	busy     bool            // it has executed commands whose replies are not sent
	pending  []change        // invalidations to send after the replies
	own      map[origin]struct{}
	scripts  []*trackedScript
	broken   bool // the connection to redirect to is gone
	off      bool // CLIENT TRACKING OFF was called; the keys stay in the table
	prefixes []string
}

// change is a key that has changed, or all of them.
type change struct {
	key      string
	all      bool
	by       origin
	scripted bool // by a script
}

func newTracker(s *Server) *tracker {
	return &tracker{
		s: s, maxKeys: s.limits.TrackedKeys, wake: make(chan struct{}, 1), done: make(chan struct{}),
		conns: map[*tracked]struct{}{}, keys: map[dbKey]map[*tracked]struct{}{}, byDB: map[string]int{},
	}
}

// begin, pause, resume and change process the queued notifications first: changes that came before are reported by the
// connection's old options.

// begin adds a connection.
func (tr *tracker) begin(t *tracked) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.drain()
	if len(tr.conns) == 0 {
		tr.s.engine.Track(true)
	}
	tr.conns[t] = struct{}{}
}

// pause stops invalidations to a connection. Its keys stay in the table until they change, as in
// Redis: when the connection tracks again, they are invalidated.
func (tr *tracker) pause(t *tracked) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.drain()
	tr.forgetScripts(t)
	t.off, t.options, t.prefixes, t.pending, t.stay, t.broken = true, trackingOptions{}, nil, nil, nil, false
}

// resume is begin for a connection that has paused.
func (tr *tracker) resume(t *tracked, options trackingOptions, prefixes []string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.drain()
	t.off, t.options, t.prefixes = false, options, prefixes
}

// change gives a connection other options, and more prefixes.
func (tr *tracker) change(t *tracked, options trackingOptions, prefixes []string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.drain()
	t.options, t.prefixes, t.broken = options, append(t.prefixes, prefixes...), false
}

// end removes a connection; its keys leave the table when they change.
func (tr *tracker) end(t *tracked) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if _, found := tr.conns[t]; !found {
		return
	}
	tr.forgetScripts(t)
	delete(tr.conns, t)
	if len(tr.conns) == 0 {
		tr.s.engine.Track(false)
		tr.clearKeys()
		tr.tracked.Store(0)
		tr.queue = nil
	}
}

// trackKeys adds keys that a connection is about to read. Invalidations wait until the
// replies are sent, so that the client gets them after the value that they invalidate.
func (tr *tracker) trackKeys(t *tracked, keys []string) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.becomeBusy(t)
	for _, key := range keys {
		tr.hold(dbKey{t.db, key}, t)
	}
	tr.tracked.Store(int64(len(tr.keys)))
}

// hold adds a holder of a key, and makes room for it; the lock is held.
func (tr *tracker) hold(at dbKey, t *tracked) {
	if tr.keys[at] == nil {
		tr.evict()
	}
	tr.keep(at, t)
}

// bytesPerTracked is the average length of a tracked key, in bytes, beyond which keys are evicted before there are maxKeys.
const bytesPerTracked = 256

// clearKeys forgets all keys; the lock is held.
func (tr *tracker) clearKeys() {
	clear(tr.keys)
	clear(tr.byDB)
	tr.bytes = 0
}

// forgetKey forgets one; the lock is held.
func (tr *tracker) forgetKey(at dbKey) {
	if _, found := tr.keys[at]; found {
		delete(tr.keys, at)
		tr.bytes -= len(at.key)
		if tr.byDB[at.db]--; tr.byDB[at.db] == 0 {
			delete(tr.byDB, at.db)
		}
	}
}

// evict makes room for a key by invalidating another; the lock is held.
func (tr *tracker) evict() {
	for at := range tr.keys { // unordered: any key will do
		if len(tr.keys) < tr.maxKeys && tr.bytes < tr.maxKeys*bytesPerTracked {
			return
		}
		tr.invalidate(at, origin{})
		tr.wakeRun() // delivers to idle connections
	}
}

// deferDelivery holds invalidations back until a connection, which is about to run a
// command, has sent its reply.
func (tr *tracker) deferDelivery(t *tracked) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.becomeBusy(t)
}

// becomeBusy holds invalidations back; those of changes that came before are sent first.
func (tr *tracker) becomeBusy(t *tracked) {
	if !t.busy {
		tr.drain()
		t.busy = true
	}
}

// stayTracked keeps a busy connection's keys in the table, even if they change, until its replies are
// sent: a transaction may read a key after its own change.
func (tr *tracker) stayTracked(t *tracked, keys map[string]bool) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	t.stay = keys
}

// wrote records a request as a connection's own (NOLOOP): its changes are not reported to
// it, whether this node applies them before or after the reply.
func (tr *tracker) wrote(t *tracked, by origin) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	left := t.pending[:0]
	for _, p := range t.pending {
		if p.by != by || p.scripted && t.options.bcast {
			left = append(left, p)
		}
	}
	t.pending = left
	for o := range t.own { // unordered: each by itself
		if o.index < tr.seen {
			delete(t.own, o)
		}
	}
	if by.index >= tr.seen {
		if t.own == nil {
			t.own = map[origin]struct{}{}
		}
		t.own[by] = struct{}{}
	}
}

// deliverDeferred sends the deferred invalidations of a connection that has sent its
// replies.
func (tr *tracker) deliverDeferred(t *tracked) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.drain()
	t.busy, t.stay = false, nil
	tr.deliver(t)
}

// notify queues what applies have touched for run.
func (tr *tracker) notify(notes []env.Notification) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if len(tr.conns) == 0 {
		return
	}
	for i := range notes {
		switch notes[i].Kind {
		case env.KeyTouched, env.Flushed, env.Deleted, env.ScriptRead, env.ScriptEnded:
			tr.queue = append(tr.queue, notes[i])
		}
	}
	tr.wakeRun()
}

func (tr *tracker) wakeRun() {
	select {
	case tr.wake <- struct{}{}:
	default:
	}
}

// resync invalidates everything of every connection: a snapshot has replaced the state.
func (tr *tracker) resync() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.queue = nil
	tr.clearKeys()
	for t := range tr.conns { // unordered: each by itself
		if t.off {
			continue
		}
		for len(t.scripts) > 0 { // what they have read is unknown
			tr.assumeRead(t, t.scripts[0])
		}
		t.pending = append(t.pending[:0], change{all: true})
		tr.deliver(t)
	}
}

// run processes notifications until ctx ends.
func (tr *tracker) run(ctx context.Context) {
	defer close(tr.done)
	for {
		select {
		case <-tr.wake:
			tr.processQueue()
		case <-ctx.Done():
			return
		}
	}
}

// processQueue processes the queued notifications.
func (tr *tracker) processQueue() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.drain()
}

// drain is processQueue with the lock held.
func (tr *tracker) drain() {
	if len(tr.queue) == 0 {
		return
	}
	notes := tr.queue
	tr.queue = nil
	for i := range notes {
		n := &notes[i]
		if tr.scripts > 0 {
			tr.recordForScripts(n)
		}
		switch n.Kind {
		case env.KeyTouched:
			by := origin{n.Index, n.Place}
			tr.invalidate(dbKey{n.DB, n.Channel}, by)
			tr.invalidatePrefixes(n, by)
		case env.Flushed, env.Deleted:
			tr.invalidateAll(n.DB)
		}
		tr.seen = max(tr.seen, n.Index)
	}
	tr.tracked.Store(int64(len(tr.keys)))
	for t := range tr.conns { // unordered: each by itself
		tr.deliver(t)
	}
}

// invalidate reports a change to the holders of a key and forgets the key, except for one
// that reads it once more before its replies are sent.
func (tr *tracker) invalidate(at dbKey, by origin) {
	holders := tr.keys[at]
	tr.forgetKey(at)
	for t := range holders { // unordered: each by itself
		if _, found := tr.conns[t]; !found || t.off || t.options.bcast {
			continue
		}
		if by.index != 0 && t.busy && t.stay[at.key] {
			tr.keep(at, t)
		}
		if !tr.isOwn(t, by) {
			t.pending = append(t.pending, change{key: at.key, by: by})
		}
	}
}

// keep adds a holder of a key; the lock is held.
func (tr *tracker) keep(at dbKey, t *tracked) {
	if tr.keys[at] == nil {
		tr.keys[at] = map[*tracked]struct{}{}
		tr.bytes += len(at.key)
		tr.byDB[at.db]++
	}
	tr.keys[at][t] = struct{}{}
}

// isOwn reports whether a request is a NOLOOP connection's own.
func (tr *tracker) isOwn(t *tracked, by origin) bool {
	_, own := t.own[by]
	return own && by.index != 0
}

// invalidateAll reports to all connections of a database that every key is gone.
func (tr *tracker) invalidateAll(db string) {
	for at, holders := range tr.keys { // unordered: each by itself
		if at.db != db {
			continue
		}
		for t := range holders { // unordered: each by itself
			if !t.busy || !t.stay[at.key] {
				delete(holders, t)
			}
		}
		if len(holders) == 0 {
			tr.forgetKey(at)
		}
	}
	for t := range tr.conns { // unordered: each by itself
		if n := len(t.pending); t.db == db && !t.off && (n == 0 || !t.pending[n-1].all) {
			t.pending = append(t.pending, change{all: true})
		}
	}
}

// permitted leaves out keys that the connection's user may not read; keys it has read
// itself stay. It is not ok if the user is gone.
func (t *tracked) permitted(changes []change) (left []change, ok bool) {
	t.c.s.engine.Local(func(v *fsm.View) {
		left = make([]change, 0, len(changes)) // not in place: a look may be taken twice
		as := t.c.info.get().as
		ok = v.Authorized(as)
		for _, p := range changes {
			if ok && !p.all && t.options.bcast {
				if _, refusal := v.Check(as, command.RESP, [][]byte{[]byte("GET"), []byte(p.key)}); refusal != nil {
					continue
				}
			}
			left = append(left, p)
		}
	})
	return left, ok
}
