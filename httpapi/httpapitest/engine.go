package httpapitest

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/node/pubsub"
	"github.com/trireme-dev/trireme/node/searchindex"
)

// The tokens of a new Engine.
const (
	Token         = "standard-token"
	ReadOnlyToken = "readonly-token"
	// MessagesToken opens /v2. It has the form that clients of workflows decode for the
	// addresses of webhooks; its user is MessagesUser.
	MessagesToken = "eyJVc2VySUQiOiJ0ZXN0ZXIiLCJQYXNzd29yZCI6Im1lc3NhZ2VzIn0="
	MessagesUser  = "tester"
	// MessagesReadOnlyToken reads /v2.
	MessagesReadOnlyToken = "messages-readonly-token"
	AdminToken            = "admin-token"
)

// ClusterID is the id of a new Engine's cluster.
const ClusterID = "cluster-of-a-test"

// Engine is an httpapi.Engine. Its setters inject faults; they are safe to call while requests run.
type Engine struct {
	Machine *fsm.Machine

	proposals, reads atomic.Int64

	mu               sync.Mutex
	index            uint64
	seed             uint64
	cluster          uint64
	now              func() int64
	still            bool // no chance
	propose          error
	read             error
	ready, accepting error
	slowDisk         time.Time
	ahead, lasts     time.Duration // of cluster time
	apply            bool          // a failing proposal is applied all the same
	hook             func()
	before           func() // called by the next proposal
	nodes            int
	hubs             []*pubsub.Hub
}

// New returns an engine whose cluster has been founded with the tokens above.
func New() *Engine { return founded(&Engine{now: func() int64 { return time.Now().UnixMilli() }}) }

// NewCluster returns an engine as New does, for one of several clusters: each number has a secret of its own.
func NewCluster(number uint64) *Engine {
	return founded(&Engine{now: func() int64 { return time.Now().UnixMilli() }, cluster: number})
}

// NewStill returns an engine as New does, with the test's clock, in unix milliseconds, and with the same seed for every
// entry and every read, so that two engines answer the same.
func NewStill(now func() int64) *Engine { return founded(&Engine{now: now, still: true}) }

func founded(e *Engine) *Engine {
	e.Machine = fsm.NewMachine()
	searchindex.Attach(e.Machine, 0)
	e.Machine.Hooks.Notifications = func(notes []env.Notification) {
		for _, h := range e.hubs {
			h.Notify(notes)
		}
	}
	e.Machine.Hooks.Followed = func() bool { return slices.ContainsFunc(e.hubs, (*pubsub.Hub).Following) }
	e.Found(Tokens())
	return e
}

// Tokens returns the digests of the tokens above.
func Tokens() acl.Tokens {
	var t acl.Tokens
	t[acl.Standard] = acl.DigestOf(Token)
	t[acl.ReadOnly] = acl.DigestOf(ReadOnlyToken)
	t[acl.Messages] = acl.DigestOf(MessagesToken)
	t[acl.MessagesReadOnly] = acl.DigestOf(MessagesReadOnlyToken)
	t[acl.Admin] = acl.DigestOf(AdminToken)
	return t
}

// Found replaces the cluster's tokens; they may be the ones that it was founded with before.
func (e *Engine) Found(t acl.Tokens) {
	salt := acl.SaltOf(ClusterID)
	for _, tokens := range []acl.Tokens{{}, t} {
		body := fsm.BootstrapState.Body(fsm.Bootstrap{ClusterID: ClusterID, Tokens: tokens.Salted(salt), Again: true, Level: fsm.MaxLevel, Salt: salt})
		if _, err := e.commit(fsm.BootstrapState.Code, body); err != nil {
			panic(err) // the engine of a test can't be founded: a bug of the test
		}
	}
}

// FailWrites makes every proposal end with err, nil for none. If applied is set they are applied nevertheless, like a
// write whose acknowledgement is lost.
func (e *Engine) FailWrites(err error, applied bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.propose, e.apply = err, applied
}

// FailReads makes every read but a local one end with err, nil for none.
func (e *Engine) FailReads(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.read = err
}

// SetAccepting makes Accepting answer err.
func (e *Engine) SetAccepting(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.accepting = err
}

// SetSlowDisk makes SlowDiskSince answer since.
func (e *Engine) SetSlowDisk(since time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.slowDisk = since
}

// SetReady makes Ready answer err.
func (e *Engine) SetReady(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ready = err
}

// BeforeRead makes every read that is not local call hook before it reads.
func (e *Engine) BeforeRead(hook func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hook = hook
}

// BeforePropose makes the next proposal call hook before it is applied.
func (e *Engine) BeforePropose(hook func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.before = hook
}

// SetClock replaces the wall clock, in unix milliseconds.
func (e *Engine) SetClock(now func() int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = now
}

// Calls returns the numbers of proposals and of reads; calls of Local aren't counted.
func (e *Engine) Calls() (proposals, reads int64) { return e.proposals.Load(), e.reads.Load() }

// Propose applies one request at once.
func (e *Engine) Propose(_ context.Context, code uint16, body []byte) (any, error) {
	e.proposals.Add(1)
	e.mu.Lock()
	err, apply, before := e.propose, e.apply, e.before
	e.before = nil
	e.mu.Unlock()
	if before != nil {
		before()
	}
	if err != nil && !apply {
		return nil, err
	}
	if err := fsm.Permitted(code, e.Machine.Level()); err != nil {
		return nil, err
	}
	v, applied := e.commit(code, body)
	if err != nil {
		return nil, err
	}
	return v, applied
}

const term = 1

func (e *Engine) commit(code uint16, body []byte) (any, error) {
	return e.commitRequest(fsm.Request{Code: code, Body: body})
}

func (e *Engine) commitRequest(q fsm.Request) (any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.index++
	entry := fsm.Entry{Stamp: e.now(), Term: term, Requests: []fsm.Request{q}}
	if !e.still {
		binary.LittleEndian.PutUint64(entry.Seed[:], e.index)
		binary.LittleEndian.PutUint64(entry.Seed[8:], e.cluster)
	}
	outcomes, err := e.Machine.Apply(e.index, term, entry.Encode())
	if err != nil {
		return nil, err
	}
	return outcomes[0].Value, outcomes[0].Err
}

// Read runs fn on the machine's state. It can't be newer, so a session read that asks
// for more is too stale at once.
func (e *Engine) Read(_ context.Context, r fsm.Reading, fn func(*fsm.View)) (fsm.ReadAt, error) {
	e.reads.Add(1)
	e.mu.Lock()
	err, now, hook := e.read, e.now(), e.hook
	e.seed++
	var seed [16]byte
	if !e.still {
		binary.LittleEndian.PutUint64(seed[:], e.seed)
	}
	e.mu.Unlock()
	if hook != nil {
		hook()
	}
	if err != nil {
		return fsm.ReadAt{}, err
	}
	if r.Mode == fsm.Stale {
		now = 0 // the state's own time
	}
	var at fsm.ReadAt
	see := func(v *fsm.View) {
		at = fsm.ReadAt{Index: v.Index(), Now: v.Now()}
		if r.AtLeast <= v.Index() {
			fn(v)
		}
	}
	if r.Long {
		e.Machine.ViewFork(env.At(now), seed, see)
	} else {
		e.Machine.View(now, seed, see)
	}
	if r.AtLeast > at.Index {
		return fsm.ReadAt{}, fsm.ErrTooStale
	}
	return at, nil
}

// Local runs fn on the machine's state.
func (e *Engine) Local(fn func(*fsm.View)) { e.Machine.View(0, [16]byte{}, fn) }

// Ready returns nil unless SetReady said otherwise.
func (e *Engine) Ready() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ready
}

// SlowDiskSince returns what SetSlowDisk said.
func (e *Engine) SlowDiskSince() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.slowDisk
}

// TimeDifference returns what SetTimeDifference said.
func (e *Engine) TimeDifference() (ahead, lasts time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ahead, e.lasts
}

// SetTimeDifference has cluster time differ from the wall clocks.
func (e *Engine) SetTimeDifference(ahead, lasts time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ahead, e.lasts = ahead, lasts
}

// Accepting returns nil unless SetAccepting said otherwise.
func (e *Engine) Accepting() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.accepting
}

// Level returns the feature level of the machine.
func (e *Engine) Level() (level env.Level) {
	e.Local(func(v *fsm.View) { level = v.Level() })
	return level
}
