// Command jepsen runs workloads against a cluster of real processes while it
// hurts them, judges what the clients saw, and prints one JSON summary. It exits
// with 1 if anything went wrong.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"trireme/jepsen"
	"trireme/jepsen/lab"
	"trireme/jepsen/nemesis"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	failed, err := perform(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "jepsen:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// perform parses the flags, runs, and prints.
func perform(ctx context.Context, args []string) (failed bool, err error) {
	c, err := configure(args)
	if err != nil {
		return false, err
	}
	if c.Binary == "" {
		if c.Binary, err = lab.Build(c.Dir, lab.BuildOptions{Failpoints: true}); err != nil {
			return false, err
		}
	}
	fmt.Fprintf(os.Stderr, "seed %d, everything is kept in %s\n", c.Seed, c.Dir)
	s, err := jepsen.Run(ctx, c)
	if err != nil {
		return false, err
	}
	if s.Failed() {
		fmt.Fprintln(os.Stderr, s)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return s.Failed(), out.Encode(s)
}

// configure turns flags into a configuration.
func configure(args []string) (jepsen.Config, error) {
	var c jepsen.Config
	var workloads, faults, schedule string
	flags := flag.NewFlagSet("jepsen", flag.ContinueOnError)
	flags.StringVar(&c.Binary, "binary", "", "the product's binary; built, with failpoints, if empty")
	flags.StringVar(&c.Dir, "out", "", "folder for data, logs, schedule and histories; a new temporary one if empty")
	flags.Uint64Var(&c.Seed, "seed", 0, "seed of schedule and operations; 0 draws one")
	flags.DurationVar(&c.Duration, "duration", time.Minute, "how long load and faults last")
	flags.StringVar(&workloads, "workloads", strings.Join(jepsen.Workloads(), ","), "workloads, separated by commas")
	flags.StringVar(&faults, "faults", "kill,restart,pause,stop,transfer,failpoint", "faults, separated by commas, all, or empty")
	flags.StringVar(&schedule, "schedule", "", "a stored schedule to play instead of drawing one")
	flags.DurationVar(&c.Gap, "gap", 2*time.Second, "mean time between faults")
	flags.IntVar(&c.Clients, "clients", 10, "clients of each workload")
	flags.DurationVar(&c.Pause, "pause", 10*time.Millisecond, "mean time between two operations of a client")
	flags.DurationVar(&c.Heartbeat, "heartbeat", 500*time.Millisecond, "heartbeat of the cluster")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	c.Workloads = strings.Split(workloads, ",")
	err := complete(&c, faults, schedule)
	return c, err
}

// complete fills in what the flags left to chance or to files.
func complete(c *jepsen.Config, faults, schedule string) (err error) {
	if c.Faults, err = nemesis.ParseFaults(faults); err != nil {
		return err
	}
	if c.Seed == 0 {
		c.Seed = rand.Uint64()>>11 + 1 // exact in any JSON reader
	}
	if schedule != "" {
		s, err := nemesis.LoadSchedule(schedule)
		if err != nil {
			return err
		}
		c.Schedule, c.Seed, c.Duration = &s, s.Seed, s.Duration
	}
	if c.Dir == "" {
		c.Dir, err = os.MkdirTemp("", "trireme-jepsen-")
		return err
	}
	c.Dir, err = filepath.Abs(c.Dir)
	return err
}
