package session

import (
	"cmp"
	"slices"
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

// Batch holds what one node sends to the leader in one call: requests of its session, and the low-water mark below
// which it awaits no outcome.
type Batch struct {
	LowWater fsm.LowWater
	Requests []fsm.Request
	round    uint64
	// databases holds at i the database charged for request i, empty for none. It is nil if no request is charged to a database.
	databases []string
	held      bool // its requests waited for the shares of their databases
}

// Take returns the next batch, up to MaxBatchBytes; nil if there is none. Finish must be told
// what became of it.
func (t *Tracker) Take() *Batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.take(false)
}

// take is Take, or TakeMore; the lock is held.
func (t *Tracker) take(more bool) *Batch {
	b := &Batch{LowWater: fsm.LowWater{Session: t.session, Below: t.lowest()}, round: t.round, Requests: make([]fsm.Request, 0, len(t.queue))}
	var now time.Time
	if t.ledger != nil {
		now = t.now()
	}
	if (more || t.inFlight < maxInFlight) && t.takeQueued(b, now) {
		t.inFlight++
		return b
	}
	if t.takeHeld(b, now) {
		return b
	}
	return nil
}

// takeQueued puts into a batch the requests that wait for nothing else, and reports whether there were any. The lock is held.
func (t *Tracker) takeQueued(b *Batch, now time.Time) bool {
	size, count := 0, 0
	for _, c := range t.queue {
		if t.pending[c.seq] != c { // given up by its client
			count++
			continue
		}
		n := len(c.body) + FrameCost
		if size+n > MaxBatchBytes && len(b.Requests) > 0 {
			break
		}
		count++
		if c.db != "" && !t.admit(c, now) {
			continue
		}
		size += n
		t.put(b, c)
	}
	if t.queue = slices.Delete(t.queue, 0, count); len(t.queue) == 0 && cap(t.queue) > keptQueue {
		t.queue = nil
	}
	return len(b.Requests) > 0
}

// put adds a request to a batch; the lock is held.
func (t *Tracker) put(b *Batch, c *Call) {
	c.attempts++
	b.Requests = append(b.Requests, fsm.Request{Session: t.session, Seq: c.seq, Code: c.code, Body: c.body})
	if c.db != "" && b.databases == nil {
		b.databases = make([]string, len(b.Requests)-1, cap(b.Requests))
	}
	if b.databases != nil {
		b.databases = append(b.databases, c.db)
	}
}

// keptQueue is the largest capacity, in requests, that an empty queue keeps.
const keptQueue = 1 << 12

// lowest returns the least sequence number that is still awaited; the lock is held.
func (t *Tracker) lowest() uint64 {
	for t.low < t.seq && t.pending[t.low] == nil {
		t.low++
	}
	return t.low
}

// Finish processes a batch's answer: its outcomes, or an error. sure says that this try has not applied and will not
// apply anything of the batch.
func (t *Tracker) Finish(b *Batch, outcomes []fsm.Outcome, err error, sure bool) {
	t.Resolve(outcomes)
	t.mu.Lock()
	defer t.mu.Unlock()
	again, expired, deferred := err != nil, false, false
	for i := range b.Requests {
		c := t.pending[b.Requests[i].Seq]
		if c == nil || b.LowWater.Session != t.session {
			continue
		}
		refused := i < len(outcomes) && outcomes[i].Status == fsm.Refused
		again = again || refused
		expired = expired || (i < len(outcomes) && outcomes[i].Status == fsm.SessionExpired)
		later := i < len(outcomes) && outcomes[i].Status == fsm.Deferred
		deferred = deferred || later
		if refused || later || (err != nil && sure) {
			c.attempts--
		}
	}
	if expired {
		t.drop()
	} else if b.round == t.round { // otherwise this try was given up meanwhile
		if b.held {
			t.heldInFlight = false
		} else {
			t.inFlight--
		}
		if b.databases != nil || deferred {
			t.settleShares(b, outcomes)
		}
		if again {
			t.resend()
		}
	}
	t.wake()
}

// resend queues everything without an outcome again, in sequence order before what is
// new.
func (t *Tracker) resend() {
	t.round++
	t.inFlight = 0
	t.pause = true
	t.queue = nil
	t.emptyHeld()
	for _, c := range t.pending { // unordered: sorted below
		t.queue = append(t.queue, c)
	}
	slices.SortFunc(t.queue, func(a, b *Call) int { return cmp.Compare(a.seq, b.seq) })
}
