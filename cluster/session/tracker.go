package session

import (
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

const (
	// Deadline bounds the time for which a request is proposed again before its outcome is given up as unknown.
	Deadline = 10 * time.Second
	// Leaderless is the time without a leader after which requests that were never sent are refused.
	Leaderless = 5 * time.Second
	// MaxBatchBytes cuts batches: raft's own suggestion for an entry.
	MaxBatchBytes = 512 << 10
	// FrameCost is the cost of a request in a batch in addition to its body, in bytes.
	FrameCost = 24
	// maxInFlight bounds the batches of a node that are in flight at a time, in addition to one of held requests; what
	// waits meanwhile fills the next.
	maxInFlight = 2
	// maxPending bounds the requests that wait on one node.
	maxPending = 1 << 20
)

// Call is a request that a client of this node waits for.
type Call struct {
	seq      uint64
	code     uint16
	body     []byte
	db       string // the database that is charged for it, empty for none
	held     bool   // it has waited for that database's share
	deadline time.Time
	// attempts counts the tries that may have put it into a log: if it is 0, the request was certainly not applied.
	attempts int
	done     chan Result
}

// Done gets the outcome once.
func (c *Call) Done() <-chan Result { return c.done }

// Result is the outcome of a request: a value of the operation's result type, an error of the operation, or one of the
// errors of a fsm.Proposer.
type Result struct {
	Value any
	Err   error
}

// Tracker holds the requests of one node process. Its methods may be called by any
// goroutine.
type Tracker struct {
	now  func() time.Time
	wake func()

	mu       sync.Mutex
	session  uint64
	seq      uint64
	pending  map[uint64]*Call // without an outcome
	low      uint64           // no sequence below it is pending
	queue    []*Call          // to be sent, in sequence order
	inFlight int
	round    uint64 // changes when batches in flight are given up
	pause    bool   // a batch failed: wait before the next try
	since    time.Time
	stopping bool
	most     int // requests that may wait: maxPending

	ledger   *Ledger // nil: no shares are kept
	tenants  map[string]*tenantQueue
	deferred int64
	// heldInFlight says that a batch of requests that were held is in flight. It is not counted in inFlight.
	heldInFlight bool
}

// New returns a tracker without a session. now is monotonic time; wake is called, with the
// tracker locked, when there may be something to send.
func New(now func() time.Time, wake func()) *Tracker {
	return &Tracker{now: now, wake: wake, pending: map[uint64]*Call{}, seq: 1, low: 1, since: now(), most: maxPending}
}

// Add queues a request that no database is charged for. After an error, fsm.ErrStopping or fsm.ErrNoLeader, it was not
// queued.
func (t *Tracker) Add(code uint16, body []byte) (*Call, error) { return t.AddOf("", code, body) }

// AddOf does what Add does, for a request that a database is charged for; see Shares.
func (t *Tracker) AddOf(db string, code uint16, body []byte) (*Call, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	switch {
	case t.stopping:
		return nil, fsm.ErrStopping
	case len(t.pending) >= t.most, !t.since.IsZero() && now.Sub(t.since) > Leaderless:
		return nil, fsm.ErrNoLeader
	}
	c := t.enter(code, body, now)
	if t.ledger != nil {
		c.db = db
	}
	t.queue = append(t.queue, c)
	if t.inFlight < maxInFlight {
		t.wake()
	}
	return c, nil
}

// enter gives a request the next sequence; the lock is held.
func (t *Tracker) enter(code uint16, body []byte, now time.Time) *Call {
	c := &Call{seq: t.seq, code: code, body: body, deadline: now.Add(Deadline), done: make(chan Result, 1)}
	t.seq++
	t.pending[c.seq] = c
	return c
}

// Session returns the session of this process, 0 while it has none.
func (t *Tracker) Session() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.session
}

// Register notes the session that this process was given.
func (t *Tracker) Register(session uint64) {
	t.mu.Lock()
	t.session = session
	t.mu.Unlock()
}

// Pending returns the number of requests that have no outcome yet.
func (t *Tracker) Pending() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}

// Resolve wakes those who wait for outcomes of this node's session.
func (t *Tracker) Resolve(outcomes []fsm.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session == 0 {
		return
	}
	for i := range outcomes {
		o := &outcomes[i]
		if o.Session != t.session || o.Status != fsm.Applied {
			continue
		}
		if c := t.pending[o.Seq]; c != nil {
			t.settle(c, Result{o.Value, o.Err})
		}
	}
}

// settle gives a call its outcome; the lock is held.
func (t *Tracker) settle(c *Call, r Result) {
	delete(t.pending, c.seq)
	c.done <- r
}

// Restored gives up on what a snapshot has jumped over: it was applied, but no node saw
// its outcome. awaits reports whether a request of a session may still be applied.
func (t *Tracker) Restored(awaits func(session, seq uint64) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for seq, c := range t.pending { // unordered: each is judged alone
		if c.attempts > 0 && !awaits(t.session, seq) {
			t.settle(c, Result{nil, fsm.ErrUnknown})
		}
	}
}

// End fails everything that waits, and refuses what comes: the node stops.
func (t *Tracker) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopping = true
	for _, c := range t.pending { // unordered: each is answered alone
		err := fsm.ErrStopping
		if c.attempts > 0 {
			err = fsm.ErrUnknown
		}
		t.settle(c, Result{nil, err})
	}
	t.queue = nil
}
