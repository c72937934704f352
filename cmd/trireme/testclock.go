package main

import (
	"context"
	"net/http"
	"sync"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/testapi"
	"github.com/trireme-dev/trireme/internal/testclock"
)

// testMode is what "dev --clock" adds to the node: a clock that a test owns, and the API
// under /test that moves it. See docs/testing.md.
type testMode struct {
	clock   *testclock.Clock
	node    *testNode
	stepper *testapi.Stepper
	sinks   *testapi.Sinks

	recorder *testapi.Recorder // set with the transport of deliveries
	running  sync.WaitGroup
}

// newTesting is nil without a mode: the node keeps the machine's time then.
func newTesting(mode string, e *engine) (*testMode, error) {
	if mode == "" {
		return nil, nil
	}
	m, err := testclock.ParseMode(mode)
	if err != nil {
		return nil, usagef("--clock: %w", err)
	}
	t := &testMode{clock: testclock.New(m), node: &testNode{engine: e}}
	t.stepper = testapi.NewStepper(t.clock, t.node)
	t.sinks = testapi.NewSinks(t.node.Now)
	return t, nil
}

// record has deliveries pass through a recorder.
func (m *testMode) record(next http.RoundTripper) http.RoundTripper {
	m.recorder = testapi.NewRecorder(next, m.node.Now)
	return m.recorder
}

// api is the handler of /test.
func (m *testMode) api(permitted func(*http.Request) bool) http.Handler {
	return testapi.New(m.stepper, m.recorder, m.sinks, permitted)
}

// begin moves a clock of the mode auto until ctx ends. Without a clock it does nothing.
func (m *testMode) begin(ctx context.Context) {
	if m != nil {
		m.running.Go(func() { m.stepper.Run(ctx) })
	}
}

// wait returns when what begin started has ended.
func (m *testMode) wait() {
	if m != nil {
		m.running.Wait()
	}
}

// testNode is the node of a development server, once it is open.
type testNode struct{ engine *engine }

func (n *testNode) open() *cluster.Node { return n.engine.node.Load() }

// Now is cluster time in unix milliseconds, 0 before the node is open.
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

// NextDue is when a message, a step, a wait or a schedule is due next.
func (n *testNode) NextDue() (unixms int64, ok bool) {
	if node := n.open(); node != nil {
		return node.Machine().NextMessage()
	}
	return 0, false
}

// Deliveries is how many deliveries are claimed, and NextDue at the same moment.
func (n *testNode) Deliveries() (underWay int, due int64, ok bool) {
	if node := n.open(); node != nil {
		return node.Machine().Deliveries()
	}
	return 0, 0, false
}

// Changed is closed by the next entry.
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
