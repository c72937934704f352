package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trireme-dev/trireme/bench/internal/report"
	"github.com/trireme-dev/trireme/bench/internal/scenario"
)

// eviction measures hit rates of a cache by one policy after the other.
func eviction(ctx context.Context, args []string) int {
	s := &settings{}
	flags := flag.NewFlagSet("bench eviction", flag.ContinueOnError)
	s.define(flags)
	memory := flags.Int("cache-mib", 1024, "memory limit of the node and of redis-server, in MiB")
	value := flags.Int("cache-value", 1000, "bytes of a value")
	policies := flags.String("policies", "allkeys-lru,allkeys-lfu", "eviction policies to compare")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if err := s.check(); err != nil || flags.NArg() > 0 || *memory < 1 || *value < 1 {
		fmt.Fprintln(os.Stderr, "bench: -cache-mib and -cache-value must be above zero;", err, flags.Args())
		return exitUsage
	}
	cache := scenario.Cache{Memory: *memory << 20, Value: *value}
	out := filepath.Join(s.dir, "eviction.json")
	return measure(ctx, s, out, args, func(b *scenario.Bench, put func([]*report.Row)) error {
		for _, policy := range strings.Split(*policies, ",") {
			put([]*report.Row{b.Eviction(ctx, policy, cache)})
		}
		return ctx.Err()
	})
}
