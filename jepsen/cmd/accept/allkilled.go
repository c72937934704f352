package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	millionKeys  = 1_000_000
	rowsPerBatch = 1000
	killedRounds = 5
	killedReady  = 5 * time.Second // the limit, from the start of the processes
	writers      = 16
)

// killedRound is one kill of all nodes during writes.
type killedRound struct {
	Ready        time.Duration // from the start of the processes until all are ready
	Acknowledged int64
	Unknown      int64
	Wrong        int64 // lost or invented values
	Problems     []string
}

// allKilled is all-killed.
func allKilled(ctx context.Context, s *session) error {
	rounds, err := repeat(s.progress, "kill-all", s.count(killedRounds), func(i int) (killedRound, error) {
		return killAll(ctx, s, i)
	})
	if err != nil {
		return err
	}
	ready := durations(rounds, func(r killedRound) time.Duration { return r.Ready })
	wrong := total(rounds, func(r killedRound) int64 { return r.Wrong })
	s.printf("all killed %d times with %d keys: ready again p50 %v, max %v (aim %v); %d acknowledged writes, %d of unknown outcome, %d wrong values",
		len(rounds), millionKeys, middle(ready), last(ready), killedReady,
		total(rounds, func(r killedRound) int64 { return r.Acknowledged }), total(rounds, func(r killedRound) int64 { return r.Unknown }), wrong)
	if wrong > 0 {
		err = fmt.Errorf("%d values lost or invented, want 0", wrong)
	}
	return errors.Join(err, atMost("all nodes ready again", last(ready), killedReady))
}

// killAll kills all nodes while writers are at work, starts them again, and
// checks every key.
func killAll(ctx context.Context, s *session, i int) (r killedRound, err error) {
	c, err := s.loaded(ctx)
	if err != nil {
		return r, err
	}
	w := startWriters(c, fmt.Sprint("killed:", i))
	sleep(ctx, time.Second)
	if err := everyNode(c, (*testcluster.Node).Kill); err != nil {
		return r, err
	}
	w.end()
	began := time.Now()
	if err := c.Start(); err != nil {
		return r, err
	}
	if err := waitReady(ctx, c, time.Minute); err != nil {
		return r, err
	}
	r.Ready = time.Since(began)
	w.verify(ctx)
	r.Acknowledged, r.Unknown = total(w.clients, acknowledged), total(w.clients, unknown)
	wrongKeys, err := checkMillion(ctx, c)
	if err != nil {
		return r, err
	}
	r.Wrong, r.Problems = wrongKeys+w.wrong, w.problems
	s.printf("round %d: ready after %v, %d acknowledged, %d unknown, %d wrong", i+1, r.Ready.Round(time.Millisecond), r.Acknowledged, r.Unknown, r.Wrong)
	for _, p := range r.Problems {
		s.printf("  %s", p)
	}
	return r, nil
}

// loaded is the cluster with a million keys in it.
func (s *session) loaded(ctx context.Context) (*testcluster.Cluster, error) {
	if s.cluster != nil {
		return s.cluster, nil
	}
	c, err := s.nodes(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	err = batches(ctx, func(batch int) error {
		rows := make([][]string, rowsPerBatch)
		for i := range rows {
			n := batch*rowsPerBatch + i
			rows[i] = []string{"SET", millionKey(n), strconv.Itoa(n)}
		}
		_, reply := c.Nodes[batch%c.Size()].Client().Pipeline(ctx, rows)
		if reply.Outcome != history.OK {
			return fmt.Errorf("load keys: %s: %s", reply.Outcome, reply.Error)
		}
		return nil
	})
	s.printf("%d keys loaded in %v", millionKeys, time.Since(began).Round(time.Millisecond))
	return c, err
}

func millionKey(n int) string { return fmt.Sprintf("million:%07d", n) }

// batches runs fn for every batch of keys, four at a time.
func batches(ctx context.Context, fn func(batch int) error) error {
	next := make(chan int)
	errs := make(chan error, 4)
	for range 4 {
		go func() {
			var err error
			for batch := range next {
				if err == nil {
					err = fn(batch)
				}
			}
			errs <- err
		}()
	}
	for batch := 0; batch < millionKeys/rowsPerBatch && ctx.Err() == nil; batch++ {
		next <- batch
	}
	close(next)
	var all []error
	for range 4 {
		all = append(all, <-errs)
	}
	return errors.Join(append(all, ctx.Err())...)
}

// checkMillion reads every key, through all nodes in turn, and counts the wrong ones.
func checkMillion(ctx context.Context, c *testcluster.Cluster) (wrong int64, err error) {
	var mu sync.Mutex
	err = batches(ctx, func(batch int) error {
		args := []string{"MGET"}
		for i := range rowsPerBatch {
			args = append(args, millionKey(batch*rowsPerBatch+i))
		}
		reply := c.Do(ctx, batch%c.Size(), args...)
		if reply.Outcome != history.OK {
			return fmt.Errorf("read keys back: %s: %s", reply.Outcome, reply.Error)
		}
		var values []*string
		if err := json.Unmarshal(reply.Result, &values); err != nil || len(values) != rowsPerBatch {
			return fmt.Errorf("read keys back: %d values for %d keys: %w", len(values), rowsPerBatch, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for i, v := range values {
			if v == nil || *v != strconv.Itoa(batch*rowsPerBatch+i) {
				wrong++
			}
		}
		return nil
	})
	return wrong, err
}

// everyNode acts on all nodes at once.
func everyNode(c *testcluster.Cluster, act func(*testcluster.Node) error) error {
	errs := make([]error, c.Size())
	var all sync.WaitGroup
	for i, n := range c.Nodes {
		all.Go(func() { errs[i] = act(n) })
	}
	all.Wait()
	return errors.Join(errs...)
}
