//go:build mutants

package main

import (
	"context"
	"time"

	"github.com/trireme-dev/trireme/internal/mutant"
	"github.com/trireme-dev/trireme/jepsen/sim"
)

// simulated has the simulation look for a fault of this process. A history runs the same way each time, so the one that
// shows the fault can be run without it afterwards.
func simulated(ctx context.Context, first uint64, v *verdict) {
	v.workload = "simulation"
	mutant.Choose(v.fault.Name)
	defer mutant.Choose("")
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	seed, violation := sim.First(ctx, first)
	v.took = time.Since(began)
	if violation == nil {
		return
	}
	v.seed, v.rule = seed, violation.Rule
	mutant.Choose("")
	if without := sim.Run(sim.Draw(seed)); without != nil {
		v.invalid = without.Error()
	}
}
