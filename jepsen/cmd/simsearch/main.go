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

	"github.com/trireme-dev/trireme/jepsen/sim"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	first := flag.Uint64("seed", 1, "the first seed")
	limit := flag.Duration("limit", 90*time.Second, "how long to search")
	flag.Parse()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	var found struct {
		Seed uint64
		Rule string
		Took time.Duration
	}
	began := time.Now()
	seed, violation := sim.First(ctx, *first)
	found.Took = time.Since(began)
	if violation != nil {
		found.Seed, found.Rule = seed, violation.Rule
	}
	if err := json.NewEncoder(os.Stdout).Encode(&found); err != nil {
		fmt.Fprintln(os.Stderr, "simsearch:", err)
		os.Exit(1)
	}
}
