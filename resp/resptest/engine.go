package resptest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/node/searchindex"
	"github.com/trireme-dev/trireme/resp"
)

// SingleNode is a resp.Engine without a cluster: a state machine whose log applies at once and
// whose clock the test sets.
type SingleNode struct {
	Machine *fsm.Machine
	// Before, if set, is called before each request is applied.
	Before func()
	// Refuse, if set, is asked before each request is applied; its error is the outcome.
	Refuse func() error
	// Look, if set, takes a look before each at the local state, which may be taken twice: what it
	// shows means nothing.
	Look func(fn func(*fsm.View))

	// mu orders requests. It is held while the hooks of an apply run, so no read may take it: a
	// hook waits for the registry of blocked clients, which reads under its own lock.
	mu    sync.Mutex
	index uint64
	now   atomic.Int64
}

// NewEngine is an engine founded with the tokens of this package, at a time in unix
// milliseconds.
func NewEngine(t testing.TB, now int64) *SingleNode {
	t.Helper()
	e := &SingleNode{Machine: fsm.NewMachine()}
	e.now.Store(now)
	searchindex.Attach(e.Machine, 0)
	var tokens acl.Tokens
	tokens[acl.Standard], tokens[acl.ReadOnly], tokens[acl.Admin] = acl.DigestOf(Token), acl.DigestOf(ReadOnlyToken), acl.DigestOf(AdminToken)
	if _, err := e.Propose(t.Context(), fsm.BootstrapState.Code, fsm.BootstrapState.Body(fsm.Bootstrap{Tokens: tokens, Level: fsm.MaxLevel})); err != nil {
		t.Fatal(err)
	}
	return e
}

// Serve runs a server over the engine until the test ends, and returns its address.
func (n *SingleNode) Serve(t testing.TB, o resp.Options) string {
	t.Helper()
	o.Engine = n
	s, err := resp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	n.Machine.Hooks.Notifications, n.Machine.Hooks.Restored = s.Notify, s.Restored
	l := &link{}
	addr := l.listen(t)
	l.serve(t, s)
	return addr
}

// Pass moves the clock on.
func (n *SingleNode) Pass(ms int64) { n.now.Add(ms) }

const term = 1

// Propose applies one request at once.
func (n *SingleNode) Propose(_ context.Context, code uint16, body []byte) (any, error) {
	if n.Before != nil {
		n.Before()
	}
	if n.Refuse != nil {
		if err := n.Refuse(); err != nil {
			return nil, err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.index++
	entry := fsm.Entry{Stamp: n.now.Load(), Term: term, Requests: []fsm.Request{{Code: code, Body: body}}}
	outcomes, err := n.Machine.Apply(n.index, term, entry.Encode())
	if err != nil {
		return nil, err
	}
	return outcomes[0].Value, outcomes[0].Err
}

// Read runs fn on the machine's state at the clock's time.
func (n *SingleNode) Read(_ context.Context, _ fsm.Reading, fn func(*fsm.View)) (at fsm.ReadAt, err error) {
	n.Machine.View(n.now.Load(), [16]byte{1}, func(v *fsm.View) {
		at.Index, at.Now = v.Index(), v.Now()
		fn(v)
	})
	return at, nil
}

// Local is Read, and takes Look before.
func (n *SingleNode) Local(fn func(*fsm.View)) {
	if n.Look != nil {
		n.Look(fn)
	}
	n.Machine.View(n.now.Load(), [16]byte{1}, fn)
}

// Track asks the machine for notes of keys that change.
func (n *SingleNode) Track(on bool) { n.Machine.Track(on) }

// Run runs a batch without the port, as another user and through another origin. A batch
// without a user is refused.
func (n *SingleNode) Run(t testing.TB, batch fsm.Batch) {
	t.Helper()
	if _, err := fsm.Do(t.Context(), n, fsm.Exec, batch); err != nil && !errors.Is(err, fsm.ErrRevoked) {
		t.Fatal(err)
	}
}
