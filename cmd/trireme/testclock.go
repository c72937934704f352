package main

import (
	"context"
	"net/http"
	"sync"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/httpapi/testapi"
	"github.com/trireme-dev/trireme/internal/testclock"
)

// testMode adds a clock that a test owns to the node of "dev --clock", and the API under /test that
// moves it. See docs/testing.md.
type testMode struct {
	clock   *testclock.Clock
	node    testapi.Node
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
	t := &testMode{clock: testclock.New(m), node: testapi.OfReplica(func() testapi.Replica {
		if n := e.node.Load(); n != nil {
			return n
		}
		return nil // not a nil *cluster.Node
	})}
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
