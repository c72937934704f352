package session

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

const (
	// widestWindow is the window from which on there is no limit.
	widestWindow = 4096
	// keptGone is the number of requests in such a queue, in addition to twice those left by the last look, at which it
	// looks for requests that nobody waits for.
	keptGone = 1024
	// largeBody is the length in bytes from which on a request is sent apart from others, and the next one only once the first
	// has been charged: requests that a database sends at once, before it has a debt, keep the others waiting as long as all
	// later ones.
	largeBody = 256 << 10
)

// A tenantQueue holds the requests of one database that wait because it has used its share: by the ledger, or because an entry
// has deferred some. They are in sequence order, and before those of the database in the queue.
type tenantQueue struct {
	waiting  []*Call
	window   int // how many may be in flight, so that few are deferred; 0 = any number
	inFlight int
	prune    int
}

// Shares sets the ledger by which the tracker holds back the requests of databases.
func (t *Tracker) Shares(l *Ledger) {
	t.mu.Lock()
	t.ledger, t.tenants = l, map[string]*tenantQueue{}
	t.mu.Unlock()
}

// Held returns the number of requests that wait for the share of their database.
func (t *Tracker) Held() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.tenants { // unordered: a sum
		n += len(l.waiting)
	}
	return n
}

// Deferred returns how often an entry has deferred a request.
func (t *Tracker) Deferred() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deferred
}

// admit reports whether a request from the queue may go into a batch with those of others. If not, it is held from then
// on. The lock is held.
func (t *Tracker) admit(c *Call, now time.Time) bool {
	l := t.tenants[c.db]
	apart := len(c.body) >= largeBody && t.ledger.Others(now, c.db) || t.ledger.Costly(now, c.db)
	if l == nil {
		if !apart {
			return true
		}
		l = t.tenant(c.db)
	} else if len(l.waiting) == 0 && l.free() && !apart {
		l.inFlight++
		return true
	}
	t.hold(l, c)
	return false
}

// tenant returns the queue of a database; the lock is held.
func (t *Tracker) tenant(db string) *tenantQueue {
	l := t.tenants[db]
	if l == nil {
		l = &tenantQueue{prune: keptGone}
		t.tenants[db] = l
	}
	return l
}

func (tq *tenantQueue) unused() bool {
	return len(tq.waiting) == 0 && tq.window == 0 && tq.inFlight == 0
}

func (tq *tenantQueue) free() bool { return tq.window == 0 || tq.inFlight < tq.window }

// hold puts a request into its queue at its place in the sequence; the lock is held.
func (t *Tracker) hold(l *tenantQueue, c *Call) {
	c.held = true
	if len(l.waiting) >= l.prune {
		l.waiting = slices.DeleteFunc(l.waiting, func(c *Call) bool { return t.pending[c.seq] != c })
		l.prune = 2*len(l.waiting) + keptGone
	}
	at := len(l.waiting)
	if at > 0 && l.waiting[at-1].seq > c.seq {
		at, _ = slices.BinarySearchFunc(l.waiting, c, func(a, b *Call) int { return cmp.Compare(a.seq, b.seq) })
	}
	l.waiting = slices.Insert(l.waiting, at, c)
}

// takeHeld puts into a batch what has waited long enough, and reports whether that is anything. One such batch is in flight
// at a time. The lock is held.
func (t *Tracker) takeHeld(b *Batch, now time.Time) bool {
	if t.heldInFlight {
		return false
	}
	size := 0
	for _, db := range slices.Sorted(maps.Keys(t.tenants)) {
		l := t.tenants[db]
		count := 0
		for _, c := range l.waiting {
			if t.pending[c.seq] == c {
				if !l.free() || size >= MaxBatchBytes || t.ledger.Held(now, db) {
					break
				}
				size += len(c.body) + FrameCost
				l.inFlight++
				t.put(b, c)
			}
			count++
		}
		l.waiting = slices.Delete(l.waiting, 0, count)
		if l.unused() {
			delete(t.tenants, db)
		}
	}
	b.held = len(b.Requests) > 0
	t.heldInFlight = b.held
	return b.held
}

// heldReady reports whether a database has something held to send; the lock is held.
func (t *Tracker) heldReady() bool {
	if len(t.tenants) == 0 || t.heldInFlight {
		return false
	}
	now := t.now()
	for db, l := range t.tenants { // unordered: any will do
		if len(l.waiting) > 0 && l.free() && !t.ledger.Held(now, db) {
			return true
		}
	}
	return false
}

// emptyHeld forgets which requests are held, because all that wait are queued again. The lock is held.
func (t *Tracker) emptyHeld() {
	t.heldInFlight = false
	for _, l := range t.tenants { // unordered: each is emptied alone
		l.waiting, l.inFlight = nil, 0
	}
}

// tally counts the requests of one database in a batch.
type tally struct{ sent, deferred int }

// settleShares takes a batch's requests off what is in flight and holds those that were deferred. If some requests of a
// database were deferred, it sends no more at a time than were applied; if none were, twice as many. The lock is held.
func (t *Tracker) settleShares(b *Batch, outcomes []fsm.Outcome) {
	tallies := map[string]tally{}
	for i := range b.Requests {
		deferred := i < len(outcomes) && outcomes[i].Status == fsm.Deferred
		db := b.database(i, deferred)
		if db == "" {
			continue
		}
		n := tallies[db]
		n.sent++
		if deferred {
			n.deferred++
			t.deferred++
			t.again(db, t.pending[b.Requests[i].Seq])
		}
		tallies[db] = n
	}
	for db, n := range tallies { // unordered: each has a queue of its own
		if l := t.tenants[db]; l != nil {
			if l.settle(n, len(outcomes) > 0); l.unused() {
				delete(t.tenants, db)
			}
		}
	}
}

// database returns the database that is charged for a request of the batch, empty for none. When the node sent a request
// that was deferred, it need not have known that there are shares.
func (b *Batch) database(i int, deferred bool) string {
	if b.databases != nil && b.databases[i] != "" {
		return b.databases[i]
	}
	if !deferred {
		return ""
	}
	name, _ := fsm.DatabaseOf(b.Requests[i].Code, b.Requests[i].Body)
	return cmp.Or(string(name), fsm.DefaultDB)
}

// again queues or holds a deferred request that a caller still awaits, so that it is sent once more; the lock is held.
func (t *Tracker) again(db string, c *Call) {
	switch {
	case c == nil:
	case t.ledger != nil:
		c.db = db
		t.hold(t.tenant(db), c)
	default:
		at, _ := slices.BinarySearchFunc(t.queue, c, func(a, b *Call) int { return cmp.Compare(a.seq, b.seq) })
		t.queue = slices.Insert(t.queue, at, c)
	}
}

func (tq *tenantQueue) settle(n tally, answered bool) {
	full := tq.window > 0 && n.sent >= tq.window
	tq.inFlight = max(0, tq.inFlight-n.sent)
	switch {
	case !answered:
	case n.deferred > 0:
		tq.window = max(1, n.sent-n.deferred)
	case full:
		if tq.window *= 2; tq.window >= widestWindow {
			tq.window = 0
		}
	}
}
