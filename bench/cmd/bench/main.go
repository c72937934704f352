// Command bench measures Trireme beside its peers and judges the rows of the
// performance plan (docs/performance.md says how to read them).
//
//	bench [flags]            rows of the plan; -rows 1,2,3 picks some
//	bench stall [flags]      acceptance line core.8
//	bench messages [flags]   acceptance line messages.9 but for its rows 12 and 13
//	bench workflows [flags]  acceptance lines workflows.7 but for its rows 14 and 15, and workflows.8
//	bench steady [flags]     acceptance line core.12
//	bench growth [flags]     the cost of a request as keys, connections and values grow, as charts
//	bench -markdown          print the last results as a table to paste
//	bench load [flags] URL…  the load generator alone, one JSON object
//	bench idle|busy -for D   loops that other measurements start as children
//
// Exit codes: 0 every line holds; 1 a line was missed or could not be measured;
// 2 wrong usage; 3 nothing missed, but a peer is not installed.
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

	"trireme/bench/internal/scenario"
)

// exitUsage is for command lines that make no sense.
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
	case "stall", "steady", "messages", "workflows":
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
