package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/trireme-dev/trireme/bench/internal/load"
)

// loadOnly is the load generator by itself: for experiments with a server that
// another program started.
func loadOnly(ctx context.Context, args []string) int {
	var s load.Spec
	fs := flag.NewFlagSet("bench load", flag.ContinueOnError)
	fs.IntVar(&s.Conns, "c", 64, "connections")
	fs.DurationVar(&s.Duration, "d", 2*time.Second, "measured time")
	fs.DurationVar(&s.Warm, "warm", 300*time.Millisecond, "warm-up")
	fs.StringVar(&s.Method, "m", "POST", "method")
	fs.StringVar(&s.Body, "body", "", "body template: {key} {seq} {val} {val64}")
	fs.StringVar(&s.Type, "type", "application/json", "content type of the body")
	fs.StringVar(&s.Bearer, "bearer", "", "bearer token")
	fs.IntVar(&s.Rows, "rows", 1, "repeat the body as so many rows of a JSON array")
	fs.IntVar(&s.Keys, "keys", 100_000, "different keys")
	fs.IntVar(&s.Value, "size", 64, "characters of {val}")
	fs.StringVar(&s.Name, "name", "", "name in the result")
	fs.StringVar(&s.Check.Prefix, "want", "", "what every reply must begin with")
	fs.StringVar(&s.Check.Contains, "contains", "", "what every reply must contain")
	if err := fs.Parse(args); err != nil {
		return exitUsage
	}
	s.Targets = fs.Args()
	r, err := load.Run(ctx, s)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(r)
	}
	if err == nil {
		err = r.Failed()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench load:", err)
		return 1
	}
	return 0
}
