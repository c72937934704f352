package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Piggybacker is a Claimer that can attach an Advance to the entry that makes something due: a
// delivery then begins one entry earlier than with an Advance of its own.
type Piggybacker interface {
	// Piggyback attaches an Advance to the next such entry; it returns nil if it can't. A later
	// one replaces an earlier one.
	Piggyback(queue.Demand) Piggyback
}

// Piggyback is an Advance attached to the next entry that makes something due.
type Piggyback interface {
	// Attached is closed when it is part of an entry.
	Attached() <-chan struct{}
	// Cancel takes it back. It returns false if it is part of an entry already.
	Cancel() bool
	// Attempts returns the attempts that it claimed, and the earliest time of their request.
	Attempts(context.Context) ([]queue.Attempt, time.Time, error)
}

// pendingPiggyback is the attached Advance of a term, if there is one.
type pendingPiggyback struct {
	piggyback Piggyback
	demand    queue.Demand
}

// attach attaches an Advance while the loop has nothing to do, unless one with the same demand
// is attached already.
func (t *term) attach(free int) {
	r, can := t.s.Claimer.(Piggybacker)
	if !can || free <= 0 {
		return
	}
	d := t.Demand(time.Now(), env.Time{}, nil)
	d.Claims = free
	p := &t.pending
	if p.piggyback != nil && p.demand.Claims == d.Claims && slices.Equal(p.demand.Hosts, d.Hosts) {
		return
	}
	if p.piggyback != nil && !p.piggyback.Cancel() { // it is part of an entry: its attempts come first
		return
	}
	p.piggyback, p.demand = r.Piggyback(d), d
}

// attached is closed when the attached Advance is part of an entry; nil if there is none.
func (t *term) attached() <-chan struct{} {
	if t.pending.piggyback == nil {
		return nil
	}
	return t.pending.piggyback.Attached()
}

// awaitPiggyback settles the attached Advance: one that is not part of an entry yet is taken back,
// the attempts of one that is are started. It reports whether there was one.
func (t *term) awaitPiggyback(ctx context.Context) bool {
	p := t.pending
	t.pending = pendingPiggyback{}
	if p.piggyback == nil || p.piggyback.Cancel() {
		return false
	}
	attempts, asked, err := p.piggyback.Attempts(ctx)
	if err != nil {
		t.s.Log.Debug("no attempts were claimed", "error", err)
		return true
	}
	t.Committed(p.demand)
	for i := range attempts {
		t.start(ctx, &attempts[i], asked)
	}
	return true
}
