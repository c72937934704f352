package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/jepsen/sim"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// simulated has the simulation look for a fault, in a process that was built with it. A history runs the same way each time,
// so this process, which has no fault, can run the one that shows the fault without it.
func (b *builds) simulated(ctx context.Context, v *verdict) error {
	v.workload = "simulation"
	dir, err := os.MkdirTemp(b.dir, "sim-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := testcluster.BuildProgram(dir, "./jepsen/cmd/simsearch", testcluster.BuildOptions{Fault: &v.fault})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, binary, "-seed", strconv.FormatUint(b.first, 10), "-limit", limit.String())
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("search: %w\n%s", err, problems.Bytes())
	}
	var found struct {
		Seed uint64
		Rule string
		Took time.Duration
	}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		return fmt.Errorf("search: %w in %q", err, out.Bytes())
	}
	v.seed, v.rule, v.took = found.Seed, found.Rule, found.Took
	if v.rule == "" {
		return nil
	}
	if without := sim.Run(sim.Draw(v.seed)); without != nil {
		v.invalid = without.Error()
	}
	return nil
}
