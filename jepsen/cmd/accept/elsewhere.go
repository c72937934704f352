package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// readElsewhere is read-elsewhere: a write through one node, read at once through
// another, one after the other without a pause.
func readElsewhere(ctx context.Context, s *session) error {
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	stale, began := 0, time.Now()
	rounds := s.count(10_000)
	for i := range rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		writer := rng.IntN(c.Size())
		reader := (writer + 1 + rng.IntN(c.Size()-1)) % c.Size()
		key, value := fmt.Sprint("elsewhere:", i%100), fmt.Sprint(i)
		if r := c.Do(ctx, writer, "SET", key, value); r.Outcome != history.OK {
			return fmt.Errorf("write %d through n%d: %+v", i, writer+1, r)
		}
		r := c.Do(ctx, reader, "GET", key)
		if r.Outcome != history.OK {
			return fmt.Errorf("read %d through n%d: %+v", i, reader+1, r)
		}
		if got := string(r.Result); got != fmt.Sprintf("%q", value) {
			stale++
			s.printf("round %d: n%d wrote %s, n%d read %s", i, writer+1, value, reader+1, got)
		}
	}
	s.printf("%d writes, each read through another node at once: %d stale, %v a pair",
		rounds, stale, (time.Since(began) / time.Duration(rounds)).Round(time.Microsecond))
	if stale > 0 {
		return fmt.Errorf("%d stale reads, want 0", stale)
	}
	return nil
}
