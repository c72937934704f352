package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// stopGrace bounds the end of a node after SIGTERM: the documented 10 s for requests in flight, and a
// little for the exit itself.
const stopGrace = 12 * time.Second

// readyGrace bounds the time in which the cluster is ready again after a fault. The next fault
// waits for that, so that a majority always lives.
const readyGrace = 30 * time.Second

// Event is one fault as it happened. Times are counted from the run's start.
type Event struct {
	Fault  Fault         `json:"fault"`
	Point  string        `json:"point,omitempty"`
	Amount int           `json:"amount,omitempty"`
	Node   string        `json:"node"` // the node that was inject
	Led    bool          `json:"led"`  // whether it led
	From   time.Duration `json:"from"`
	Until  time.Duration `json:"until"` // when it was undone
	Ready  time.Duration `json:"ready"` // when all nodes were ready again
	Error  string        `json:"error,omitempty"`
}

// Run executes a schedule against a cluster. It returns when the last fault was
// undone or the context ended; in both cases nothing is left broken.
func Run(ctx context.Context, c *testcluster.Cluster, s Schedule, start time.Time) []Event {
	r := &runner{cluster: c, start: start}
	for len(s.Steps) > 0 && ctx.Err() == nil {
		n := 1
		for n < len(s.Steps) && s.Steps[n].Episode == s.Steps[0].Episode {
			n++
		}
		r.episode(ctx, s.Steps[:n])
		s.Steps = s.Steps[n:]
	}
	if err := Heal(c); err != nil {
		r.events = append(r.events, Event{Fault: "heal", From: time.Since(start), Error: err.Error()})
	}
	return r.events
}

// Heal mends the network, empties disks and lets every node run.
func Heal(c *testcluster.Cluster) error {
	var problems []error
	if c.Net != nil {
		c.Net.Heal()
	}
	for _, n := range c.Nodes {
		err := n.Resume()
		if errors.Is(err, testcluster.ErrDown) {
			err = n.Start()
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

type runner struct {
	cluster *testcluster.Cluster
	start   time.Time
	events  []Event
	links   links
	several bool // the episode under way has more than one fault
}

// episode does faults that overlap, undoes each at its time and waits until the cluster
// is well again. Faults held when the context ends are undone at once.
func (r *runner) episode(ctx context.Context, steps []Step) {
	if !sleepUntil(ctx, r.start.Add(steps[0].At)) {
		return
	}
	act := context.WithoutCancel(ctx) // what has begun is done, also at the run's end
	leader, err := r.cluster.Leader(act)
	leads := max(0, leader.Node)
	began := time.Now().Add(-steps[0].At) // episodes before may have taken longer
	events := make([]Event, len(steps))
	r.several = len(steps) > 1
	var all sync.WaitGroup
	for i, step := range steps {
		node := step.Node
		if node == Leader {
			node = leads
		}
		node %= r.cluster.Size()
		events[i] = Event{Fault: step.Fault, Point: step.Point, Amount: step.Amount, Node: r.cluster.Nodes[node].ID, Led: err == nil && leader.Node == node}
		if step.Fault.NoMajority() {
			events[i].Node = "all"
		}
		all.Go(func() {
			if i > 0 && !sleepUntil(ctx, began.Add(step.At)) {
				return
			}
			r.step(ctx, act, step, node, &events[i])
		})
	}
	all.Wait()
	err = WaitReady(r.cluster)
	for _, e := range events {
		if e.Until == 0 {
			continue // the run ended before
		}
		e.Ready = time.Since(r.start)
		if err != nil {
			e.Error += err.Error()
		}
		r.events = append(r.events, e)
	}
}

// step does one fault, holds it and undoes it.
func (r *runner) step(ctx, act context.Context, step Step, node int, e *Event) {
	e.From = time.Since(r.start)
	hold, cancel := context.WithTimeout(ctx, step.Hold)
	defer cancel()
	err := r.inject(act, hold, step, node)
	<-hold.Done()
	if err := errors.Join(err, r.undo(step, node)); err != nil {
		e.Error = err.Error()
	}
	e.Until = time.Since(r.start)
}

// WaitReady waits, within limits, for every node to be ready. A node whose process ended
// by itself is started again, as whoever watches over it would: that it ended is on record.
func WaitReady(c *testcluster.Cluster) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyGrace)
	defer cancel()
	for tries := 1; ; tries++ {
		failed := each(c.Nodes, start)
		if failed == nil {
			failed = c.WaitReady(ctx)
		}
		switch {
		case failed == nil:
			return nil
		case ctx.Err() != nil || tries == mostStarts:
			return fmt.Errorf("not ready %v after the fault: %w", readyGrace, failed)
		}
		sleepUntil(ctx, time.Now().Add(startAgain))
	}
}

const (
	mostStarts = 3                      // of a node that ends again and again
	startAgain = 200 * time.Millisecond // the time between two of them
)

// each acts on all nodes at the same time.
func each(nodes []*testcluster.Node, act func(*testcluster.Node) error) error {
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() { errs[i] = act(n) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// sleepUntil waits for a moment; false if the context ended first.
func sleepUntil(ctx context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
