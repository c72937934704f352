package main

import (
	"context"
	"net/http"
	"sync"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/testapi"
	"github.com/trireme-dev/trireme/internal/testclock"
)

// testMode adds a clock that a test owns to the node of "dev --clock", and the API under /test that
// moves it. See docs/testing.md.
type testMode struct {
	clock   *testclock.Clock
	node    *testNode
	stepper *testapi.Stepper
	sinks   *testapi.Sinks

	recorder *testapi.Recorder // set with the transport of deliveries
	running  sync.WaitGroup
}

// newTesting returns nil without a mode: the node uses the machine's clock.
func newTesting(mode string, e *nodeEngine) (*testMode, error) {
	if mode == "" {
		return nil, nil
	}
	m, err := testclock.ParseMode(mode)
	if err != nil {
		return nil, cli.Usagef("--clock: %w", err)
	}
	t := &testMode{clock: testclock.New(m), node: &testNode{engine: e}}
	t.stepper = testapi.NewStepper(t.clock, t.node)
	t.sinks = testapi.NewSinks(t.node.Now)
	return t, nil
}

// record wraps the transport of deliveries in a recorder.
func (m *testMode) record(next http.RoundTripper) http.RoundTripper {
	m.recorder = testapi.NewRecorder(next, m.node.Now)
	return m.recorder
}

// api returns the handler of /test.
func (m *testMode) api(permitted func(*http.Request) bool) http.Handler {
	return testapi.New(m.stepper, m.recorder, m.sinks, permitted)
}

// begin moves a clock of the mode auto until ctx ends. Without a clock it does nothing.
func (m *testMode) begin(ctx context.Context) {
	if m != nil {
		m.running.Go(func() { m.stepper.Run(ctx) })
	}
}

// wait returns when the goroutine that begin started has ended.
func (m *testMode) wait() {
	if m != nil {
		m.running.Wait()
	}
}

// testNode gives the API under /test access to the node once it is open.
type testNode struct{ engine *nodeEngine }

func (n *testNode) open() *cluster.Node { return n.engine.node.Load() }

// Now returns cluster time in unix milliseconds, or 0 before the node is open.
func (n *testNode) Now() int64 {
	if node := n.open(); node != nil {
		return node.Now()
	}
	return 0
}

// Tick writes an entry, whose stamp is the clock's time.
func (n *testNode) Tick(ctx context.Context) error {
	_, err := fsm.Do(ctx, n.engine, fsm.Advance, fsm.AdvanceLimit{Sweep: 200})
	return err
}

// NextDue returns the earliest time at which a message, a step, a wait or a schedule is due.
func (n *testNode) NextDue() (unixms int64, ok bool) {
	if node := n.open(); node != nil {
		return node.Machine().NextMessage()
	}
	return 0, false
}

// Deliveries returns the number of claimed deliveries and NextDue, both from one state.
func (n *testNode) Deliveries() (underWay int, due int64, ok bool) {
	if node := n.open(); node != nil {
		return node.Machine().Deliveries()
	}
	return 0, 0, false
}

// Changed returns a channel that the next entry closes.
func (n *testNode) Changed() <-chan struct{} {
	if node := n.open(); node != nil {
		_, next := node.Machine().Applied()
		return next
	}
	return nil
}

// Reset empties the server.
func (n *testNode) Reset(ctx context.Context) error {
	_, err := fsm.Do(ctx, n.engine, fsm.Reset, fsm.Empty{})
	return err
}
