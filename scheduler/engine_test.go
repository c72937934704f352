package scheduler

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// engine is a real store of messages with a clock, and without a log: what is proposed
// is applied at once, unless lost is set: then there is no leader.
type engine struct {
	mu       sync.Mutex
	store    *queue.Store
	index    uint64
	term     uint64
	lost     bool
	changed  chan struct{}
	advances int
	entries  []int         // results in each Finish
	latency  time.Duration // of a Finish, as a log has it
	commits  func() error  // says why the next answer with commands is not recorded; nil records all
}

var errNoLeader = errors.New("no leader")

func newEngine() *engine {
	return &engine{store: queue.New(), term: 1, changed: make(chan struct{})}
}

func (e *engine) Now() int64 { return time.Now().UnixMilli() }

func (e *engine) Changed() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed
}

func (e *engine) Due() (int64, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.store.NextDue(env.At(e.Now()))
}

func (e *engine) DueSchedules(now int64) ([]queue.Schedule, env.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.store.DueSchedules(env.At(now), 100), env.At(now)
}

// apply runs f as an entry.
func (e *engine) apply(f func(*env.Env) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lost {
		return errNoLeader
	}
	e.index++
	v := env.New(e.index, e.Now(), env.Latest, [16]byte{byte(e.index), byte(e.index >> 8)}, 0)
	v.Session = 1
	err := f(v)
	close(e.changed)
	e.changed = make(chan struct{})
	return err
}

func (e *engine) Advance(_ context.Context, d queue.Demand) (all []queue.Attempt, err error) {
	err = e.apply(func(v *env.Env) error {
		e.advances++
		d.Epoch, d.Term = 1, e.term
		all = e.store.Advance(v, d)
		return nil
	})
	return all, err
}

func (e *engine) Renew(_ context.Context, n queue.Renewal) (out queue.Renewed, err error) {
	err = e.apply(func(v *env.Env) error { out, err = e.store.Renew(v, n); return err })
	return out, err
}

func (e *engine) Finish(_ context.Context, n queue.Results) (out queue.Dispositions, err error) {
	time.Sleep(e.latency)
	err = e.apply(func(v *env.Env) error {
		e.entries = append(e.entries, len(n.Items))
		out, err = e.store.Finish(v, n)
		return err
	})
	return out, err
}

// Commit records an answer without its commands, which are for a state.
func (e *engine) Commit(ctx context.Context, n queue.Answer) (queue.Dispositions, error) {
	if e.commits != nil {
		if err := e.commits(); err != nil {
			return queue.Dispositions{}, err
		}
	}
	return e.Finish(ctx, queue.Results{Items: []queue.Result{n.Result}})
}

func (e *engine) set(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// publish publishes a message and returns its id.
func (e *engine) publish(t testing.TB, p queue.Publication) (id queue.ID) {
	t.Helper()
	err := e.apply(func(v *env.Env) error {
		out, err := e.store.Publish(v, queue.Publications{Items: []queue.Publication{p}})
		if err == nil && out.Items[0].Refused != nil {
			err = out.Items[0].Refused
		}
		if err == nil {
			id = out.Items[0].Messages[0].ID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// states are those of a message's events, oldest first.
func (e *engine) states(id queue.ID) (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	list, _, _ := e.store.Events(&queue.Filter{IDs: []queue.ID{id}}, queue.Page{Limit: 100})
	for i := range list {
		all = append(all, list[i].State.String())
	}
	return all
}

// until waits for a condition.
func until(t testing.TB, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}
