//go:build mutants

package main

import (
	"context"
	"math/rand/v2"
	"os"
	"time"

	"github.com/trireme-dev/trireme/internal/mutant"
	"github.com/trireme-dev/trireme/jepsen"
	"github.com/trireme-dev/trireme/jepsen/nemesis"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// workload is what shows a fault that the simulation can't see, because it is in what the simulation stands for.
type workload struct {
	name, faults string
	schedule     func(seed uint64) *nemesis.Schedule
}

// workloads are those of the faults that need real nodes.
var workloads = map[mutant.Name]workload{
	mutant.UnfencedRead: {"register", "leaders stopped", stoppedLeaders},
	mutant.LocalRead:    {"register", "leaders stopped", stoppedLeaders},
}

// stoppedLeaders stops whoever leads, again and again, for long enough that another one is elected: for a moment after
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

// runTime is how long load and faults of one run last. Seeds are tried one after the other while there is time.
const runTime = 12 * time.Second

// nodes is the product, built with all faults in it.
type nodes struct {
	dir, binary string
	first       uint64 // seed
}

func (n *nodes) close() {
	if n.dir != "" {
		os.RemoveAll(n.dir)
	}
}

func (n *nodes) build() (err error) {
	if n.binary != "" {
		return nil
	}
	if n.dir, err = os.MkdirTemp("", "trireme-mutants-"); err != nil {
		return err
	}
	n.binary, err = testcluster.Build(n.dir, testcluster.BuildOptions{Mutants: true})
	return err
}

// look has a workload look for a fault of three nodes, each seed first without it. Only the runs with it count as time.
func (n *nodes) look(ctx context.Context, w workload, v *verdict) error {
	if err := n.build(); err != nil {
		return err
	}
	v.workload = w.name + ", " + w.faults
	for v.seed = n.first; v.took < limit; v.seed++ {
		control, err := n.run(ctx, w, v.seed, "")
		if err != nil {
			return err
		}
		if control.Failed() {
			v.invalid = control.String()
			return nil
		}
		began := time.Now()
		s, err := n.run(ctx, w, v.seed, v.fault.Name)
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

func (n *nodes) run(ctx context.Context, w workload, seed uint64, name mutant.Name) (*jepsen.Summary, error) {
	dir, err := os.MkdirTemp(n.dir, "run-")
	if err != nil {
		return nil, err
	}
	return jepsen.Run(ctx, jepsen.Config{
		Binary: n.binary, Dir: dir, Seed: seed, Duration: runTime, Workloads: []string{w.name}, Schedule: w.schedule(seed),
		Pause: time.Millisecond, Heartbeat: 250 * time.Millisecond, Env: []string{mutant.EnvName + "=" + string(name)},
	})
}
