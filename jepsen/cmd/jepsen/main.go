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

	"github.com/trireme-dev/trireme/jepsen"
	"github.com/trireme-dev/trireme/jepsen/nemesis"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
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
	c, each, err := configure(args)
	if err != nil {
		return false, err
	}
	if c.Binary == "" {
		if c.Binary, err = testcluster.Build(c.Dir, testcluster.BuildOptions{Failpoints: true}); err != nil {
			return false, err
		}
	}
	fmt.Fprintf(os.Stderr, "seed %d, everything is kept in %s\n", c.Seed, c.Dir)
	total, err := jepsen.Soak(ctx, c, each, func(s *jepsen.Summary) { fmt.Fprintln(os.Stderr, s) })
	if err != nil {
		return false, err
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	if err := out.Encode(total); err != nil {
		return false, err
	}
	return !passed(c, each, total), nil
}

// shortest is the least that a run with goals lasts.
const shortest = 2 * time.Minute

// passed reports whether the runs are as they have to be, and says it. Goals are set for runs with everything in them, of
// some minutes; of others only what went wrong counts.
func passed(c jepsen.Config, each time.Duration, total jepsen.Total) bool {
	text, met := jepsen.ShortRun.Verdict(total.Each)
	whole := len(c.Workloads) == len(jepsen.Everything()) && c.Schedule == nil && min(each, c.Duration) >= shortest
	if !whole {
		fmt.Fprintf(os.Stderr, "%d runs, %d of them found something (no goals are set for runs of a part, or of less than %v)\n", total.Runs, len(total.Failed), shortest)
		return len(total.Failed) == 0
	}
	fmt.Fprint(os.Stderr, text)
	return met
}

// configure turns flags into a configuration.
func configure(args []string) (c jepsen.Config, each time.Duration, err error) {
	var workloads, faults, schedule, kind string
	flags := flag.NewFlagSet("jepsen", flag.ContinueOnError)
	flags.StringVar(&c.Binary, "binary", "", "the product's binary; built, with failpoints, if empty")
	flags.StringVar(&c.Dir, "out", "", "folder for data, logs, schedule and histories; a new temporary one if empty")
	flags.Uint64Var(&c.Seed, "seed", 0, "seed of schedule and operations; 0 draws one")
	flags.DurationVar(&c.Duration, "duration", 5*time.Minute, "how long load and faults last")
	flags.DurationVar(&each, "each", 5*time.Minute, "longest single run: a longer duration is cut into several, with seeds that follow one another")
	flags.IntVar(&c.Nodes, "nodes", 3, "nodes of the cluster; with 1 name faults that leave it a chance, such as kill,stop,power-cut")
	flags.StringVar(&workloads, "workloads", strings.Join(jepsen.Everything(), ","), "workloads, separated by commas")
	flags.StringVar(&faults, "faults", "all", "faults, separated by commas, all that work here, or empty")
	flags.StringVar(&schedule, "replay", "", "a stored schedule to play instead of drawing one")
	flags.StringVar(&kind, "network", "best", "what stands between the nodes: loopback, relay, switch (root), or the best of these that works here")
	flags.StringVar(&c.Trust, "trust", "", "what nodes show each other: certificates, secret (certificates of a shared one), or nothing if empty")
	flags.BoolVar(&c.Disks, "disks", testcluster.Privileged(), "give every node a file system of its own (root)")
	flags.IntVar(&c.Snapshots, "snapshots", 2000, "log entries between snapshots")
	flags.DurationVar(&c.Gap, "gap", 2*time.Second, "mean time between faults")
	flags.IntVar(&c.Clients, "clients", 5, "clients of each workload")
	flags.DurationVar(&c.Pause, "pause", 10*time.Millisecond, "mean time between two operations of a client")
	flags.DurationVar(&c.Heartbeat, "heartbeat", 500*time.Millisecond, "heartbeat of the cluster")
	if err := flags.Parse(args); err != nil {
		return c, 0, err
	}
	if c.Trust != "" && c.Trust != "certificates" && c.Trust != "secret" {
		return c, 0, fmt.Errorf("-trust is certificates or secret, not %q", c.Trust)
	}
	c.Workloads = strings.Split(workloads, ",")
	if err := connect(&c, kind); err != nil {
		return c, 0, err
	}
	if err := complete(&c, faults, schedule); err != nil {
		return c, 0, err
	}
	if c.Schedule != nil {
		each = c.Duration // it is one run
	}
	return c, each, nil
}

// connect reads the kind of network.
func connect(c *jepsen.Config, kind string) error {
	switch kind {
	case "best":
		c.Network = testcluster.BestNetwork()
	case "loopback":
		c.Network = testcluster.Loopback
	case "relay":
		c.Network = testcluster.Relayed
	case "switch":
		c.Network = testcluster.Switched
	default:
		return fmt.Errorf("unknown network %q", kind)
	}
	return nil
}

// complete fills in what the flags left to chance or to files.
func complete(c *jepsen.Config, faults, schedule string) (err error) {
	if c.Faults, err = nemesis.ParseFaults(faults, c.Have()...); err != nil {
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
