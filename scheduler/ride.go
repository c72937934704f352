package scheduler

import (
	"context"
	"slices"
	"time"

	"trireme/fsm/queue"
)

// Rider is an Engine that can have an Advance go along with the entry that makes something
// due: a delivery then begins one entry earlier than by an Advance that comes behind.
type Rider interface {
	// Ride has an Advance wait for such an entry; nil if it can't. A later one takes the
	// place of an earlier one.
	Ride(queue.Demand) Ride
}

// Ride is an Advance that waits.
type Ride interface {
	// Boarded is closed when it is part of an entry.
	Boarded() <-chan struct{}
	// Cancel takes it back; false if it is part of an entry.
	Cancel() bool
	// Attempts are those that it claimed, and when they were asked for at the earliest.
	Attempts(context.Context) ([]queue.Attempt, time.Time, error)
}

// passage is the ride of a term, if one waits.
type passage struct {
	ride   Ride
	demand queue.Demand
}

// board lets an Advance wait while the loop has nothing to do, unless one of the same demand
// does already.
func (t *term) board(free int) {
	r, can := t.s.Engine.(Rider)
	if !can || free <= 0 {
		return
	}
	d := t.Demand(time.Now(), 0, nil)
	d.Claims = free
	p := &t.passage
	if p.ride != nil && p.demand.Claims == d.Claims && slices.Equal(p.demand.Hosts, d.Hosts) {
		return
	}
	if p.ride != nil && !p.ride.Cancel() { // it boards: its attempts come first
		return
	}
	p.ride, p.demand = r.Ride(d), d
}

// boarded is closed when the ride is part of an entry; nil if none waits.
func (t *term) boarded() <-chan struct{} {
	if t.passage.ride == nil {
		return nil
	}
	return t.passage.ride.Boarded()
}

// alight ends the ride: one that waits is taken back, the attempts of one that is part of an
// entry are started. It is true if there was one.
func (t *term) alight(ctx context.Context) bool {
	p := t.passage
	t.passage = passage{}
	if p.ride == nil || p.ride.Cancel() {
		return false
	}
	attempts, asked, err := p.ride.Attempts(ctx)
	if err != nil {
		t.s.Log.Debug("no attempts were claimed", "error", err)
		return true
	}
	t.Told(p.demand)
	for i := range attempts {
		t.start(ctx, &attempts[i], asked)
	}
	return true
}
