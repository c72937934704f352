package testapi

import (
	"context"
	"fmt"

	"time"

	"github.com/trireme-dev/trireme/internal/plural"
	"github.com/trireme-dev/trireme/internal/testclock"
)

// Node is the node that moves with the clock.
type Node interface {
	// Now returns cluster time in unix milliseconds.
	Now() int64
	// Tick brings the time of the state up to the clock's, and starts everything that is due.
	Tick(ctx context.Context) error
	// NextDue returns the earliest time, in unix milliseconds, at which a message, a step, a wait or a schedule has
	// something to do; ok is false if there is none.
	NextDue() (unixms int64, ok bool)
	// Deliveries returns the number of deliveries that are claimed and have no result, and the results of NextDue, both
	// as of one moment.
	Deliveries() (underWay int, due int64, ok bool)
	// Changed is closed by the next change of the state.
	Changed() <-chan struct{}
	// Reset empties the server: keys, messages, queues, schedules, groups, runs and events.
	Reset(ctx context.Context) error
}

// Busy says what was still under way or due when a wait was over.
type Busy struct {
	UnderWay int   `json:"underWay"`      // deliveries without a result
	Due      int64 `json:"due,omitempty"` // the due time that has passed, unix milliseconds
}

func (b *Busy) Error() string {
	return fmt.Sprintf("not idle: %s under way, the earliest due time is %d", plural.Of(b.UnderWay, "delivery"), b.Due)
}

// Stepper moves the clock of a node. One move runs at a time.
type Stepper struct {
	clock *testclock.Clock
	node  Node

	turn  chan struct{} // held by the move that runs
	moved chan struct{} // told that the mode may have changed
}

// NewStepper moves clock, which is the source of the node's time.
func NewStepper(clock *testclock.Clock, node Node) *Stepper {
	return &Stepper{clock: clock, node: node, turn: make(chan struct{}, 1), moved: make(chan struct{}, 1)}
}

func (s *Stepper) lock(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Stepper) unlock() { <-s.turn }

// busy returns what is under way or due now, nil if nothing is.
func (s *Stepper) busy() *Busy {
	underWay, at, some := s.node.Deliveries()
	b := Busy{UnderWay: underWay}
	if some && at <= s.node.Now() {
		b.Due = at
	}
	if b == (Busy{}) {
		return nil
	}
	return &b
}

// Idle waits until nothing is under way or due, at most until ctx ends; then the error is a *Busy, which says what
// still was.
func (s *Stepper) Idle(ctx context.Context) error {
	for {
		changed := s.node.Changed()
		b := s.busy()
		if b == nil {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return b
		}
	}
}

// To moves cluster time to that moment, unix milliseconds, and runs everything that becomes due on the way, in order.
// It returns when all of it has settled; if ctx ends before, time has moved part of the way, and the error is a *Busy.
// For a moment in the past the error is testclock.ErrBackwards.
func (s *Stepper) To(ctx context.Context, unixms int64) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.unlock()
	if unixms < s.node.Now() {
		return testclock.ErrBackwards
	}
	for {
		if err := s.Idle(ctx); err != nil {
			return err
		}
		next, some := s.node.NextDue()
		last := !some || next > unixms
		if last {
			next = unixms
		}
		if err := s.set(ctx, next); err != nil {
			return err
		}
		if last {
			return s.Idle(ctx)
		}
	}
}

// set moves cluster time to a moment, and starts everything that is due.
func (s *Stepper) set(ctx context.Context, unixms int64) error {
	if d := unixms - s.node.Now(); d > 0 {
		if err := s.clock.Advance(time.Duration(d) * time.Millisecond); err != nil {
			return err
		}
	}
	return s.node.Tick(ctx)
}

// SetMode changes how the clock moves.
func (s *Stepper) SetMode(m testclock.Mode) {
	s.clock.SetMode(m)
	select {
	case s.moved <- struct{}{}:
	default:
	}
}

// Run moves a clock of the mode Auto to the next due time whenever nothing is under way,
// until ctx ends.
func (s *Stepper) Run(ctx context.Context) {
	for ctx.Err() == nil {
		changed := s.node.Changed()
		if s.clock.Mode() == testclock.Auto && s.step(ctx) {
			continue
		}
		select {
		case <-changed:
		case <-s.moved:
		case <-ctx.Done():
		}
	}
}

// step moves to the next due time, and reports whether there was one to move to.
func (s *Stepper) step(ctx context.Context) bool {
	if s.lock(ctx) != nil {
		return false
	}
	defer s.unlock()
	if s.busy() != nil {
		return false
	}
	next, some := s.node.NextDue()
	if !some {
		return false
	}
	return s.set(ctx, next) == nil
}
