package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trireme-dev/trireme/bench/internal/report"
	"github.com/trireme-dev/trireme/bench/internal/scenario"
)

// restart measures how long a node and a redis-server with many keys need until they serve them again.
func restart(ctx context.Context, args []string) int {
	s := &settings{}
	flags := flag.NewFlagSet("bench restart", flag.ContinueOnError)
	s.define(flags)
	keys := flags.Lookup("keys")
	keys.Usage, keys.DefValue, s.keys = "keys of both servers", "10000000", 10_000_000
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if err := s.check(); err != nil || flags.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "bench:", err, flags.Args())
		return exitUsage
	}
	out := filepath.Join(s.dir, "restart.json")
	return measure(ctx, s, out, args, func(b *scenario.Bench, put func([]*report.Row)) error {
		put([]*report.Row{b.Restart(ctx)})
		return ctx.Err()
	})
}
