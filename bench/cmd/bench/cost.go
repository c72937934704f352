package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/trireme-dev/trireme/bench/internal/scenario"
)

// cost prints the processor time of workflow runs and deliveries, of several builds in turn.
func cost(ctx context.Context, args []string) int {
	s := &settings{}
	flags := flag.NewFlagSet("bench cost", flag.ContinueOnError)
	s.define(flags)
	builds := flags.String("builds", "bin/trireme", "the product's binaries, separated by commas, measured in turn")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if err := s.check(); err != nil || flags.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench:", err, flags.Args())
		return exitUsage
	}
	b, err := s.bench()
	if err != nil {
		return fail(err)
	}
	if err := b.Costs(ctx, scenario.Builds(*builds)); err != nil {
		return fail(err)
	}
	return 0
}
