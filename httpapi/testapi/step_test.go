package testapi_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/testapi"
	"github.com/trireme-dev/trireme/internal/testclock"
)

// alarms is a node on which something is due at certain times: a tick at or after one of them begins a delivery, which is under
// way until finish.
type alarms struct {
	clock *testclock.Clock

	mu       sync.Mutex
	due      []int64 // in order
	underWay int
	ran      []int64 // the times at which something ran
	changed  chan struct{}
	hold     bool // deliveries stay under way until finish
	tickErr  error
	resets   int
	resetErr error
}

func newAlarms(clock *testclock.Clock, due ...int64) *alarms {
	begin := clock.Now().UnixMilli()
	for i := range due {
		due[i] += begin
	}
	return &alarms{clock: clock, due: due, changed: make(chan struct{})}
}

func (a *alarms) Now() int64 { return a.clock.Now().UnixMilli() }

func (a *alarms) change() {
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *alarms) Tick(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tickErr != nil {
		return a.tickErr
	}
	now := a.Now()
	for len(a.due) > 0 && a.due[0] <= now {
		a.due = a.due[1:]
		a.ran = append(a.ran, now)
		if a.hold {
			a.underWay++
		}
	}
	a.change()
	return nil
}

func (a *alarms) NextDue() (int64, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.due) == 0 {
		return 0, false
	}
	return a.due[0], true
}

func (a *alarms) Deliveries() (underWay int, due int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.due) > 0 {
		due, ok = a.due[0], true
	}
	return a.underWay, due, ok
}

func (a *alarms) Changed() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed
}

func (a *alarms) Reset(context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.resetErr != nil {
		return a.resetErr
	}
	a.due, a.underWay, a.resets = nil, 0, a.resets+1
	a.change()
	return nil
}

// waitForDelivery waits until a delivery is under way.
func (a *alarms) waitForDelivery() {
	for {
		changed := a.Changed()
		if underWay, _, _ := a.Deliveries(); underWay > 0 {
			return
		}
		<-changed
	}
}

// finish ends one delivery.
func (a *alarms) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.underWay--
	a.change()
}

func (a *alarms) history() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.ran)
}

// add makes something due so long after now.
func (a *alarms) add(after int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = append(a.due, a.Now()+after)
	slices.Sort(a.due)
	a.change()
}

// TestMoveStopsAtEachDueTime: everything runs at its own due time, in order, and not at the end of the move.
func TestMoveStopsAtEachDueTime(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock, 1000, 5000, 5000, 60_000)
	begin := node.Now()
	s := testapi.NewStepper(clock, node)
	if err := s.To(t.Context(), begin+10_000); err != nil {
		t.Fatal(err)
	}
	if got, want := node.history(), []int64{begin + 1000, begin + 5000, begin + 5000}; !slices.Equal(got, want) {
		t.Errorf("ran at %v, want %v", got, want)
	}
	if node.Now() != begin+10_000 {
		t.Errorf("time is %d ms after the begin", node.Now()-begin)
	}
	if err := s.To(t.Context(), begin+60_000); err != nil || node.history()[3] != begin+60_000 {
		t.Errorf("what is due at the very end: %v, error %v", node.history(), err)
	}
}

// handovers is a run of steps whose delivery changes whenever it is read: from due to claimed, and from claimed to the next one
// that is due.
type handovers struct {
	*alarms
	looks, steps int
}

func (h *handovers) Deliveries() (underWay int, due int64, ok bool) {
	h.looks++
	step, claimed := h.looks/2, h.looks%2 == 0
	switch {
	case step > h.steps:
		return 0, 0, false
	case claimed:
		return 1, 0, false
	}
	return 0, h.Now(), true
}

func (h *handovers) NextDue() (int64, bool) {
	_, at, some := h.Deliveries()
	return at, some
}

func (h *handovers) Changed() <-chan struct{} {
	changed := make(chan struct{})
	close(changed)
	return changed
}

// TestIdleOutlastsHandovers: at every moment the delivery is either due or claimed, so Idle has to check both at once.
func TestIdleOutlastsHandovers(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := &handovers{alarms: newAlarms(clock), steps: 5}
	if err := testapi.NewStepper(clock, node).Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if node.looks <= 2*node.steps {
		t.Errorf("idle after %d looks, in the middle of a run", node.looks)
	}
}

// TestMoveBackwardsIsRefused: keys that were seen expired must not come back.
func TestMoveBackwardsIsRefused(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock)
	s, begin := testapi.NewStepper(clock, node), node.Now()
	if err := s.To(t.Context(), begin-1); !errors.Is(err, testclock.ErrBackwards) {
		t.Errorf("error %v", err)
	}
	if err := s.To(t.Context(), begin); err != nil || node.Now() != begin {
		t.Errorf("a move to now: %v", err)
	}
}

// TestMoveWaitsForDeliveries: time does not pass a delivery that is under way.
func TestMoveWaitsForDeliveries(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock, 1000, 2000)
	node.hold = true
	begin, s, moved := node.Now(), testapi.NewStepper(clock, node), make(chan error, 1)
	go func() { moved <- s.To(t.Context(), begin+5000) }()
	for _, at := range []int64{1000, 2000} {
		node.waitForDelivery()
		if now := node.Now(); now != begin+at {
			t.Errorf("with a delivery under way time is %d ms after the begin, want %d", now-begin, at)
		}
		node.finish()
	}
	if err := <-moved; err != nil || node.Now() != begin+5000 {
		t.Errorf("at the end %d ms after the begin, error %v", node.Now()-begin, err)
	}
}

// TestMoveThatIsCutOff: the error says what was still under way, and time has moved part of the way.
func TestMoveThatIsCutOff(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock, 1000, 2000)
	node.hold = true
	begin, s := node.Now(), testapi.NewStepper(clock, node)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		node.waitForDelivery()
		cancel()
	}()
	var busy *testapi.Busy
	if err := s.To(ctx, begin+5000); !errors.As(err, &busy) || busy.UnderWay != 1 {
		t.Fatalf("error %v", err)
	}
	if node.Now() != begin+1000 {
		t.Errorf("time is %d ms after the begin", node.Now()-begin)
	}
	// The next move goes on from there.
	node.mu.Lock()
	node.hold = false
	node.mu.Unlock()
	node.finish()
	if err := s.To(t.Context(), begin+5000); err != nil || len(node.history()) != 2 {
		t.Errorf("ran at %v, error %v", node.history(), err)
	}
}

// TestIdleWaitsForWhatIsDue: a due time that has passed counts as work, though nothing is under way yet.
func TestIdleWaitsForWhatIsDue(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock, 0)
	s := testapi.NewStepper(clock, node)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var busy *testapi.Busy
	if err := s.Idle(ended); !errors.As(err, &busy) || busy.Due != node.Now() || busy.UnderWay != 0 {
		t.Errorf("error %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Idle(t.Context()) }()
	if err := node.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("idle, yet %v", err)
	}
	node.add(1) // due later: the server is idle
	if err := s.Idle(ended); err != nil {
		t.Errorf("with something due later: %v", err)
	}
}

// TestFailedTickEndsTheMove: a node without a leader can't move time.
func TestFailedTickEndsTheMove(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock, 1000)
	node.tickErr = errors.New("no leader")
	if err := testapi.NewStepper(clock, node).To(t.Context(), node.Now()+5000); !errors.Is(err, node.tickErr) {
		t.Errorf("error %v", err)
	}
}

// TestOneMoveAtATime: a second move waits for the first, and gives up with its context.
func TestOneMoveAtATime(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock, 1000)
	node.hold = true
	begin, s, first := node.Now(), testapi.NewStepper(clock, node), make(chan error, 1)
	go func() { first <- s.To(t.Context(), begin+1000) }()
	node.waitForDelivery()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.To(ended, begin+9000); !errors.Is(err, context.Canceled) || node.Now() != begin+1000 {
		t.Errorf("a second move: %v, time %d ms after the begin", err, node.Now()-begin)
	}
	node.finish()
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// TestAutoRunsThroughAllDueTimes: the mode auto moves to the next due time by itself, and stops with another mode.
func TestAutoRunsThroughAllDueTimes(t *testing.T) {
	clock := testclock.New(testclock.Frozen)
	node := newAlarms(clock, 1000, 365*24*3_600_000)
	begin, s := node.Now(), testapi.NewStepper(clock, node)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	ran := func(n int) {
		for {
			changed := node.Changed()
			if len(node.history()) >= n {
				return
			}
			<-changed
		}
	}
	s.SetMode(testclock.Auto)
	ran(2)
	node.add(5000)
	ran(3)
	year := int64(365 * 24 * 3_600_000)
	if got, want := node.history(), []int64{begin + 1000, begin + year, begin + year + 5000}; !slices.Equal(got, want) {
		t.Errorf("ran at %v, want %v", got, want)
	}
	cancel()
	<-ended
	node.add(1000)
	if len(node.history()) != 3 {
		t.Error("time moved after the end")
	}
}
