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

// Engine is a resp.Engine without a cluster: a state machine whose log applies at once and
// whose clock the test sets.
type Engine struct {
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
func NewEngine(t testing.TB, now int64) *Engine {
	t.Helper()
	e := &Engine{Machine: fsm.NewMachine()}
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
func (e *Engine) Serve(t testing.TB, o resp.Options) string {
	t.Helper()
	o.Engine = e
	s, err := resp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	e.Machine.Hooks.Notifications, e.Machine.Hooks.Restored = s.Notify, s.Restored
	l := &link{}
	addr := l.listen(t)
	l.serve(t, s)
	return addr
}

// Pass moves the clock on.
func (e *Engine) Pass(ms int64) { e.now.Add(ms) }

const term = 1

// Propose applies one request at once.
func (e *Engine) Propose(_ context.Context, code uint16, body []byte) (any, error) {
	if e.Before != nil {
		e.Before()
	}
	if e.Refuse != nil {
		if err := e.Refuse(); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.index++
	entry := fsm.Entry{Stamp: e.now.Load(), Term: term, Requests: []fsm.Request{{Code: code, Body: body}}}
	outcomes, err := e.Machine.Apply(e.index, term, entry.Encode())
	if err != nil {
		return nil, err
	}
	return outcomes[0].Value, outcomes[0].Err
}

// Read runs fn on the machine's state at the clock's time.
func (e *Engine) Read(_ context.Context, _ fsm.Reading, fn func(*fsm.View)) (at fsm.ReadAt, err error) {
	e.Machine.View(e.now.Load(), [16]byte{1}, func(v *fsm.View) {
		at.Index, at.Now = v.Index(), v.Now()
		fn(v)
	})
	return at, nil
}

// Local is Read, and takes Look before.
func (e *Engine) Local(fn func(*fsm.View)) {
	if e.Look != nil {
		e.Look(fn)
	}
	e.Machine.View(e.now.Load(), [16]byte{1}, fn)
}

// Track asks the machine for notes of keys that change.
func (e *Engine) Track(on bool) { e.Machine.Track(on) }

// Run runs one command without the port, as somebody else and through another origin. Somebody
// who is nobody may not.
func (e *Engine) Run(t testing.TB, batch fsm.Batch) {
	t.Helper()
	if _, err := fsm.Do(t.Context(), e, fsm.Exec, batch); err != nil && !errors.Is(err, fsm.ErrRevoked) {
		t.Fatal(err)
	}
}
