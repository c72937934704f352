package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// register is a key that one writer sets to 1, 2, 3, … A read must answer at
// least what was acknowledged, or read by anyone, before it began.
type register struct {
	key     string
	floor   atomic.Int64
	started atomic.Int64 // the highest value sent, the most a read may answer
}

// raise lifts the floor.
func (r *register) raise(n int64) {
	for {
		old := r.floor.Load()
		if n <= old || r.floor.CompareAndSwap(old, n) {
			return
		}
	}
}

// tally counts what readers and writers met.
type tally struct {
	reads, stale, invented, writes atomic.Int64
	failedReads, failedWrites      atomic.Int64
	probes                         int64 // sent to a node that does not answer
	mu                             sync.Mutex
	problems                       []string
	from, first                    time.Time // watched from, and the first write after it
}

// watchFrom has the first acknowledged write noted that is sent from now on.
func (t *tally) watchFrom(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from = at
}

// wrote notes an acknowledged write.
func (t *tally) wrote(sent time.Time) {
	t.writes.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.from.IsZero() && t.first.IsZero() && sent.After(t.from) {
		t.first = time.Now()
	}
}

// firstWrite returns the time until the first write, or an hour without one.
func (t *tally) firstWrite() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first.IsZero() {
		return time.Hour
	}
	return t.first.Sub(t.from)
}

func (t *tally) note(counter *atomic.Int64, format string, args ...any) {
	counter.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.problems) < 10 {
		t.problems = append(t.problems, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

// advance writes the register's next value through a node.
func (t *tally) advance(c *testcluster.Cluster, node int, r *register) {
	n, sent := r.started.Add(1), time.Now()
	reply := c.Do(context.Background(), node, "SET", r.key, strconv.FormatInt(n, 10))
	if reply.Outcome != history.OK {
		t.note(&t.failedWrites, "write %d of %s through n%d: %s: %s", n, r.key, node+1, reply.Outcome, reply.Error)
		return
	}
	t.wrote(sent)
	r.raise(n)
}

// read reads the register through a node and judges the answer.
func (t *tally) read(c *testcluster.Cluster, node int, r *register) {
	floor, began := r.floor.Load(), time.Now()
	n, err := count(c.Do(context.Background(), node, "GET", r.key))
	switch {
	case err != nil:
		t.note(&t.failedReads, "read of %s through n%d after %v: %v", r.key, node+1, time.Since(began), err)
		return
	case n < floor:
		t.note(&t.stale, "STALE: %s read through n%d from %s on answered %d, but %d was known before", r.key, node+1, began.Format("15:04:05.000"), n, floor)
	case n > r.started.Load():
		t.note(&t.invented, "%s read through n%d answered %d, which nobody wrote", r.key, node+1, n)
	}
	t.reads.Add(1)
	r.raise(n)
}
