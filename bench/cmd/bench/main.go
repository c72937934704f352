package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/scenario"
)

// exitUsage is the exit code for invalid command lines.
const exitUsage = 2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

// run picks the subcommand and returns the exit code.
func run(ctx context.Context, args []string) int {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "load":
		return loadOnly(ctx, args[1:])
	case "idle", "busy":
		return loop(name, args[1:])
	case "growth":
		return growth(ctx, args[1:])
	case "eviction":
		return eviction(ctx, args[1:])
	case "snapshots":
		return snapshots(ctx, args[1:])
	case "cost":
		return cost(ctx, args[1:])
	case "restart":
		return restart(ctx, args[1:])
	case "stall", "steady", "beside", "memory", "messages", "workflows", "traces":
		return accept(ctx, name, args[1:])
	}
	return rows(ctx, args)
}

// fail prints err and returns the exit code of a failed run.
func fail(err error) int {
	fmt.Fprintln(os.Stderr, "bench:", err)
	return 1
}

// loop runs one of the loops that other measurements start as children.
func loop(name string, args []string) int {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	d := fs.Duration("for", time.Second, "how long")
	if err := fs.Parse(args); err != nil {
		return exitUsage
	}
	if name == "busy" {
		scenario.Busy(*d)
		return 0
	}
	if err := json.NewEncoder(os.Stdout).Encode(scenario.Idle(*d)); err != nil {
		return fail(err)
	}
	return 0
}
