package nemesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"trireme/jepsen/lab"
)

// stopGrace is how long a node has to end after SIGTERM: the contract's 10 s for
// what is in flight, and a little for the exit itself.
const stopGrace = 12 * time.Second

// readyGrace is how long the cluster has to be ready again after a fault. The
// next fault waits for that, so that a majority always lives.
const readyGrace = 15 * time.Second

// Event is one fault as it happened. Times are counted from the run's start.
type Event struct {
	Fault Fault         `json:"fault"`
	Point string        `json:"point,omitempty"`
	Node  string        `json:"node"` // the node that was hurt
	Led   bool          `json:"led"`  // whether it led
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"` // when it was undone
	Ready time.Duration `json:"ready"` // when all nodes were ready again
	Error string        `json:"error,omitempty"`
}

// Run plays a schedule against a cluster. It returns when the last fault was
// undone or the context ended; in both cases nothing is left broken.
func Run(ctx context.Context, c *lab.Cluster, s Schedule, start time.Time) []Event {
	r := &runner{cluster: c, start: start}
	for _, step := range s.Steps {
		if !sleepUntil(ctx, start.Add(step.At)) {
			break
		}
		r.step(ctx, step)
	}
	if err := Heal(c); err != nil {
		r.events = append(r.events, Event{Fault: "heal", From: time.Since(start), Error: err.Error()})
	}
	return r.events
}

// Heal lets every node run.
func Heal(c *lab.Cluster) error {
	var problems []error
	for _, n := range c.Nodes {
		err := n.Resume()
		if errors.Is(err, lab.ErrDown) {
			err = n.Start()
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

type runner struct {
	cluster *lab.Cluster
	start   time.Time
	events  []Event
}

// step does one fault, holds it and undoes it. A fault held when the context
// ends is undone at once.
func (r *runner) step(ctx context.Context, step Step) {
	act := context.WithoutCancel(ctx) // what has begun is done, also at the run's end
	node, led := r.target(act, step)
	e := Event{Fault: step.Fault, Point: step.Point, Led: led, From: time.Since(r.start)}
	var nodes []*lab.Node
	if step.Fault == KillAll {
		nodes, e.Node = r.cluster.Nodes, "all"
	} else {
		nodes, e.Node = []*lab.Node{node}, node.ID
	}
	hurt := each(nodes, func(n *lab.Node) error { return r.hurt(act, step, n) })
	sleepUntil(ctx, time.Now().Add(step.Hold))
	undone := each(nodes, func(n *lab.Node) error { return undo(step.Fault, n) })
	e.Until = time.Since(r.start)
	err := errors.Join(hurt, undone, WaitReady(r.cluster))
	e.Ready = time.Since(r.start)
	if err != nil {
		e.Error = err.Error()
	}
	r.events = append(r.events, e)
}

// WaitReady waits, within limits, for every node to be ready.
func WaitReady(c *lab.Cluster) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyGrace)
	defer cancel()
	return c.WaitReady(ctx)
}

// target resolves the step's node. Without a leader the first node is taken.
func (r *runner) target(ctx context.Context, step Step) (node *lab.Node, led bool) {
	leader, err := r.cluster.Leader(ctx)
	i := step.Node
	if i == Leader {
		i = max(0, leader.Node)
	}
	return r.cluster.Nodes[i%len(r.cluster.Nodes)], err == nil && leader.Node == i
}

func (r *runner) hurt(ctx context.Context, step Step, n *lab.Node) error {
	switch step.Fault {
	case Kill, Restart, KillAll:
		return n.Kill()
	case Pause:
		return n.Pause()
	case Stop:
		return n.Stop(stopGrace)
	case Failpoint:
		return n.Arm(step.Point + "=1*exit")
	case Transfer:
		return r.cluster.TransferLeadership(ctx)
	default:
		return fmt.Errorf("%w %q", ErrUnknownFault, step.Fault)
	}
}

// undo ends a fault. A node that runs already is as it should be.
func undo(f Fault, n *lab.Node) error {
	switch f {
	case Pause:
		return n.Resume()
	case Transfer:
		return nil
	case Failpoint:
		if err := n.Arm(""); err != nil {
			return err
		}
	}
	if err := n.Start(); err != nil && !errors.Is(err, lab.ErrRunning) {
		return err
	}
	return nil
}

// each acts on all nodes at the same time.
func each(nodes []*lab.Node, act func(*lab.Node) error) error {
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
