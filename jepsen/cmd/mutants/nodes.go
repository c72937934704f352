package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/trireme-dev/trireme/jepsen"
	"github.com/trireme-dev/trireme/jepsen/mutant"
	"github.com/trireme-dev/trireme/jepsen/nemesis"
	"github.com/trireme-dev/trireme/jepsen/slowdisks"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
	"github.com/trireme-dev/trireme/jepsen/workload/runs"
)

// A workload on real nodes finds a fault that the simulation can't find, because the simulation replaces the faulty part.
type workload struct {
	name, faults string
	schedule     func(seed uint64) *nemesis.Schedule
}

// workloads lists the workloads for faults that need real nodes.
var workloads = map[string]workload{
	mutant.UnfencedRead: {"register", "leaders stopped", stoppedLeaders},
	mutant.LocalRead:    {"register", "leaders stopped", stoppedLeaders},
}

// stoppedLeaders stops the leader, again and again, for long enough that another one is elected: for a moment after
// that two believe to lead.
func stoppedLeaders(seed uint64) *nemesis.Schedule {
	s := &nemesis.Schedule{Seed: seed, Duration: runTime}
	rng := rand.New(rand.NewPCG(seed, 1))
	for at := 500 * time.Millisecond; at < runTime-time.Second; {
		hold := 700*time.Millisecond + time.Duration(rng.IntN(400))*time.Millisecond
		s.Steps = append(s.Steps, nemesis.Step{At: at, Hold: hold, Fault: nemesis.Pause, Node: nemesis.Leader, Episode: len(s.Steps)})
		at += hold + 200*time.Millisecond + time.Duration(rng.IntN(200))*time.Millisecond
	}
	return s
}

// An experiment finds a fault that shows in no reply. Its error is the rule that was broken.
type experiment struct {
	name string
	args []string // of the nodes
	run  func(context.Context, *testcluster.Cluster) error
}

// experiments lists the experiments by the faults that they find.
var experiments = map[string]experiment{
	mutant.SlowLeader: {"slow leader", nil, func(ctx context.Context, c *testcluster.Cluster) error {
		_, err := slowdisks.Leader(ctx, c, 200*time.Millisecond, slowdisks.Times{Before: 3 * time.Second, During: 15 * time.Second})
		return err
	}},
	mutant.SnapshotsAtOnce: {"snapshots", slowdisks.SnapshotFlags, func(ctx context.Context, c *testcluster.Cluster) error {
		_, err := slowdisks.Turns(ctx, c, 45*time.Second)
		return err
	}},
	mutant.RefusedCommitKept:    commits,
	mutant.CommitWithoutAsking:  commits,
	mutant.CommitOfFailedAnswer: commits,
	mutant.CommitTwice:          commits,
	mutant.StepWithoutCommit:    commits,
	mutant.GoesAlongNowhere:     commits,
	mutant.FeedLosesNumber:      triggers,
	mutant.LanesByChange:        triggers,
	mutant.OldValueIsThatNow:    triggers,
	mutant.StateOfRepeatedStep:  states,
	mutant.StateOfRefusedStep:   states,
	mutant.UpdatePastItsRule:    states,
	mutant.UpdateTwice:          states,
	mutant.KeptEventTwice:       states,
}

// triggers has counters be changed and told, while deliveries fail and leaders are killed.
var triggers = experiment{"triggers", []string{"--egress-allow", "127.0.0.0/8"}, func(ctx context.Context, c *testcluster.Cluster) error {
	_, err := deliveries.Triggers{
		Cluster: c, Label: "triggers", Changes: 300, Clients: 8, Failing: 30, KillEvery: time.Second, Down: 300 * time.Millisecond, Patience: 30 * time.Second,
	}.Run(ctx)
	return err
}}

// states has runs set their state and take updates while calls fail and leaders are killed.
var states = experiment{"states", []string{"--egress-allow", "127.0.0.0/8"}, func(ctx context.Context, c *testcluster.Cluster) error {
	_, err := runs.States{
		Cluster: c, Label: "states", Runs: 40, Failing: 20, KillEvery: time.Second, Down: 300 * time.Millisecond, Patience: 30 * time.Second,
	}.Run(ctx)
	return err
}}

// commits has steps and answers bring commands while calls fail and leaders are killed.
var commits = experiment{"commits", []string{"--egress-allow", "127.0.0.0/8"}, func(ctx context.Context, c *testcluster.Cluster) error {
	_, err := runs.Commits{
		Cluster: c, Label: "commits", Runs: 60, Failing: 30, KillEvery: time.Second, Down: 300 * time.Millisecond, Patience: 30 * time.Second,
	}.Run(ctx)
	return err
}}

// try runs the experiment for a fault, first without it. Only the run with it counts as time.
func (b *builds) try(ctx context.Context, e experiment, v *verdict) error {
	v.workload, v.seed = e.name, b.first
	for _, o := range []testcluster.BuildOptions{{Failpoints: true}, {Failpoints: true, Fault: &v.fault}} {
		dir, err := os.MkdirTemp(b.dir, "run-")
		if err != nil {
			return err
		}
		binary, err := testcluster.Build(filepath.Join(dir, "bin"), o)
		if err != nil {
			return err
		}
		began := time.Now()
		broken, err := e.on(ctx, testcluster.Options{Binary: binary, Dir: dir, Args: e.args})
		switch {
		case err != nil:
			return err
		case o.Fault == nil && broken != "":
			v.invalid = broken
			return nil
		case o.Fault != nil:
			if v.took = time.Since(began); v.took <= limit {
				v.rule = broken
			}
		}
	}
	return nil
}

// on runs the experiment on a cluster of its own. It returns the rule that was broken, if one was.
func (e *experiment) on(ctx context.Context, o testcluster.Options) (broken string, err error) {
	c, err := testcluster.NewCluster(o)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.Start(); err != nil {
		return "", err
	}
	ready, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := c.WaitReady(ready); err != nil {
		return "", err
	}
	if err := e.run(ctx, c); err != nil {
		broken = err.Error()
	}
	return broken, ctx.Err()
}

// runTime is the duration of load and faults in one run. Seeds are tried one after the other until limit.
const runTime = 12 * time.Second

// builds holds the binaries of the product, with the faults and without.
type builds struct {
	dir    string
	intact string // the node without a fault; empty until one is needed
	first  uint64 // seed
}

// nodes builds the node without a fault and the one with it.
func (b *builds) nodes(f *mutant.Fault) (intact, faulty string, err error) {
	if b.intact == "" {
		if b.intact, err = testcluster.Build(filepath.Join(b.dir, "intact"), testcluster.BuildOptions{}); err != nil {
			return "", "", err
		}
	}
	faulty, err = testcluster.Build(filepath.Join(b.dir, f.Name), testcluster.BuildOptions{Fault: f})
	return b.intact, faulty, err
}

// look has a workload look for a fault of three nodes, each seed first without it. Only the runs with it count as time.
func (b *builds) look(ctx context.Context, w workload, v *verdict) error {
	intact, faulty, err := b.nodes(&v.fault)
	if err != nil {
		return err
	}
	v.workload = w.name + ", " + w.faults
	for v.seed = b.first; v.took < limit; v.seed++ {
		control, err := b.run(ctx, w, v.seed, intact)
		if err != nil {
			return err
		}
		if control.Failed() {
			v.invalid = control.String()
			return nil
		}
		began := time.Now()
		s, err := b.run(ctx, w, v.seed, faulty)
		v.took += time.Since(began)
		if err != nil {
			return err
		}
		if len(s.Anomalies) > 0 && v.took <= limit {
			v.rule = s.Anomalies[0].Kind
			return nil
		}
	}
	return nil
}

func (b *builds) run(ctx context.Context, w workload, seed uint64, binary string) (*jepsen.Summary, error) {
	dir, err := os.MkdirTemp(b.dir, "run-")
	if err != nil {
		return nil, err
	}
	return jepsen.Run(ctx, jepsen.Config{
		Binary: binary, Dir: dir, Seed: seed, Duration: runTime, Workloads: []string{w.name}, Schedule: w.schedule(seed),
		Pause: time.Millisecond, Heartbeat: 250 * time.Millisecond,
	})
}
