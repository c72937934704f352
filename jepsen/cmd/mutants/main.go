//go:build mutants

// Command mutants gives the product one seeded fault after the other (package mutant) and has the checkers find it:
//
//	go run -tags nomsgpack,hashicorpmetrics,mutants ./jepsen/cmd/mutants -table docs/mutants.md
//
// Each has 90 seconds. What the simulation can see it looks for; the others are nodes of their own under a workload. It
// ends with 1 if one was not found.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"trireme/jepsen"
	"trireme/jepsen/lab"
	"trireme/jepsen/nemesis"
	"trireme/jepsen/sim"
	"trireme/mutant"
)

// limit is how long a fault may stay unseen.
const limit = 90 * time.Second

// caught is how a fault was found.
type caught struct {
	name     mutant.Name
	workload string
	seed     uint64
	took     time.Duration
	rule     string
	err      error
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	table := flag.String("table", "", "file for the table; printed if empty")
	only := flag.String("only", "", "the faults to look for, separated by commas; all if empty")
	flag.Parse()
	found := perform(ctx, *only)
	text := document(found)
	if *table == "" {
		fmt.Print(text)
	} else if err := os.WriteFile(*table, []byte(text), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, c := range found {
		if c.err != nil {
			os.Exit(1)
		}
	}
}

// perform looks for the faults in turn.
func perform(ctx context.Context, only string) (found []caught) {
	n := &nodes{}
	defer n.close()
	for _, name := range mutant.All() {
		if only != "" && !slices.Contains(strings.Split(only, ","), string(name)) {
			continue
		}
		c := look(ctx, n, name)
		fmt.Fprintf(os.Stderr, "%-45s %-10s seed %-6d %5.1f s  %s %v\n", c.name, c.workload, c.seed, c.took.Seconds(), c.rule, cmp.Or(c.err, error(fine{})))
		found = append(found, c)
	}
	return found
}

type fine struct{}

func (fine) Error() string { return "" }

func look(ctx context.Context, n *nodes, name mutant.Name) caught {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if w, real := workloads[name]; real {
		return n.run(ctx, name, w)
	}
	return simulated(ctx, name)
}

// simulated has the simulation look for a fault of this process.
func simulated(ctx context.Context, name mutant.Name) caught {
	mutant.Choose(name)
	defer mutant.Choose("")
	began := time.Now()
	c := caught{name: name, workload: "simulation"}
	seed, v := sim.First(ctx, 1)
	c.took = time.Since(began)
	if v == nil {
		c.err = fmt.Errorf("not found within %v", limit)
		return c
	}
	c.seed, c.rule = seed, v.Rule
	return c
}

// workload is what shows a fault that the simulation can't see.
type workload struct {
	name   string
	faults []nemesis.Fault
}

// workloads are those of the faults that need real nodes.
var workloads = map[mutant.Name]workload{
	mutant.UnfencedRead: {"register", []nemesis.Fault{nemesis.Pause}},
	mutant.LocalRead:    {"register", []nemesis.Fault{nemesis.Pause}},
}

// seeds are tried one after the other while there is time.
const runTime = 20 * time.Second

// nodes is the product, built with all faults in it.
type nodes struct{ dir, binary string }

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
	n.binary, err = lab.Build(n.dir, lab.BuildOptions{Mutants: true})
	return err
}

// run has a workload look for a fault of three nodes. The time for building them does not count.
func (n *nodes) run(ctx context.Context, name mutant.Name, w workload) caught {
	c := caught{name: name, workload: w.name}
	if c.err = n.build(); c.err != nil {
		return c
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	began := time.Now()
	for c.seed = 1; ctx.Err() == nil; c.seed++ {
		dir, err := os.MkdirTemp(n.dir, "run-")
		if err != nil {
			c.err = err
			return c
		}
		s, err := jepsen.Run(ctx, jepsen.Config{
			Binary: n.binary, Dir: dir, Seed: c.seed, Duration: runTime, Workloads: []string{w.name}, Faults: w.faults, Gap: time.Second,
			Pause: 2 * time.Millisecond, Heartbeat: 500 * time.Millisecond, Env: []string{mutant.EnvName + "=" + string(name)},
		})
		c.took = time.Since(began)
		if err != nil {
			c.err = err
			return c
		}
		if s.Failed() {
			c.rule = "linearizability"
			return c
		}
	}
	c.err = fmt.Errorf("not found within %v", limit)
	return c
}

// document is the table.
func document(found []caught) string {
	var b strings.Builder
	b.WriteString(`# Seeded faults

Written by ` + "`go run -tags nomsgpack,hashicorpmetrics,mutants ./jepsen/cmd/mutants -table docs/mutants.md`" + `. Each line is a
fault of the product that a binary with the build tag ` + "`mutants`" + ` can be given (package ` + "`mutant`" + ` says what each does),
and how long the checkers took to notice. They have 90 seconds.

| fault | workload | seed | seconds | rule that was broken |
|---|---|---|---|---|
`)
	missed := 0
	for _, c := range found {
		rule := c.rule
		if c.err != nil {
			rule = "**" + c.err.Error() + "**"
			missed++
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %.2f | %s |\n", c.name, c.workload, c.seed, c.took.Seconds(), rule)
	}
	fmt.Fprintf(&b, "\n%d faults, %d found.\n", len(found), len(found)-missed)
	return b.String()
}
