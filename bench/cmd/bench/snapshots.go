package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/report"
	"github.com/trireme-dev/trireme/bench/internal/scenario"
)

// snapshots measures what snapshots add to the bytes that a node writes, for one number of keys after the other.
func snapshots(ctx context.Context, args []string) int {
	s := &settings{}
	flags := flag.NewFlagSet("bench snapshots", flag.ContinueOnError)
	s.define(flags)
	list := flags.String("sizes", "10000,100000,1000000,20000000", "numbers of keys, separated by commas")
	long := flags.Duration("for", 10*time.Minute, "length of the load for each")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	sizes, err := numbers(*list)
	if e := s.check(); err != nil || e != nil || flags.NArg() > 0 || *long <= 0 {
		fmt.Fprintln(os.Stderr, "bench: -sizes are numbers above zero, -for is above zero;", firstError(err, e), flags.Args())
		return exitUsage
	}
	out := filepath.Join(s.dir, "snapshots.json")
	done := func(*report.Row) bool { return false }
	if s.resume {
		if old, err := report.Load(out); err == nil {
			done = old.Measured
		}
	}
	return measure(ctx, s, out, args, func(b *scenario.Bench, put func([]*report.Row)) error {
		b.Snapshots(ctx, sizes, *long, done, put)
		return ctx.Err()
	})
}

// numbers reads numbers above zero that commas separate.
func numbers(list string) (all []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a number above zero", text)
		}
		all = append(all, n)
	}
	return all, nil
}
