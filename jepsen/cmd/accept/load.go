package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// sample is one acknowledged write.
type sample struct{ sent, replied time.Time }

// load is a number of clients that count as fast as they are answered: three
// additions and one read in turn, each client on a counter of its own and on one
// shared with all others. A reply that does not fit is a failure as much as an
// error is.
type load struct {
	cluster *testcluster.Cluster
	prefix  string
	stop    context.CancelFunc
	all     sync.WaitGroup
	own     []int64 // acknowledged additions, by client
	shared  atomic.Int64
	reads   atomic.Int64
	failed  atomic.Int64

	mu       sync.Mutex
	samples  []sample
	problems []string // the first few failures
	longest  time.Duration
}

// startLoad starts clients, spread over the nodes named. What happens on other
// nodes does not concern them.
func startLoad(c *testcluster.Cluster, nodes []int, clients int, prefix string) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{cluster: c, prefix: prefix, stop: stop, own: make([]int64, clients)}
	for id := range clients {
		l.all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				l.step(id, nodes[id%len(nodes)], i)
			}
		})
	}
	return l
}

func (l *load) ownKey(id int) string { return fmt.Sprintf("%s:own:%d", l.prefix, id) }
func (l *load) sharedKey() string    { return l.prefix + ":shared" }

// step is one request of one client.
func (l *load) step(id, node, i int) {
	switch i % 4 {
	case 0, 1:
		if n, ok := l.write(node, l.ownKey(id)); ok {
			if l.own[id]++; n != l.own[id] {
				l.fail("n%d: own counter %d answered %d after %d additions", node+1, id, n, l.own[id])
			}
		}
	case 2:
		if _, ok := l.write(node, l.sharedKey()); ok {
			l.shared.Add(1)
		}
	default:
		l.read(node, id)
	}
}

// write adds one and records when.
func (l *load) write(node int, key string) (n int64, ok bool) {
	at := sample{sent: time.Now()}
	r := l.cluster.Do(context.Background(), node, "INCR", key)
	at.replied = time.Now()
	n, err := strconv.ParseInt(string(r.Result), 10, 64)
	ok = r.Outcome == history.OK && err == nil
	l.mu.Lock()
	l.longest = max(l.longest, at.replied.Sub(at.sent))
	if ok {
		l.samples = append(l.samples, at)
	}
	l.mu.Unlock()
	if !ok {
		l.fail("n%d: INCR %s: %s after %v: %s", node+1, key, r.Outcome, at.replied.Sub(at.sent), r.Error)
	}
	return n, ok
}

// read reads the client's own counter, which no other client changes.
func (l *load) read(node, id int) {
	at := time.Now()
	n, err := count(l.cluster.Do(context.Background(), node, "GET", l.ownKey(id)))
	l.reads.Add(1)
	switch {
	case err != nil:
		l.fail("n%d: read after %v: %v", node+1, time.Since(at), err)
	case n != l.own[id]:
		l.fail("n%d: own counter %d read as %d after %d additions", node+1, id, n, l.own[id])
	}
}

// count decodes the reply of GET on a counter.
func count(r testcluster.Reply) (n int64, err error) {
	if r.Outcome != history.OK {
		return 0, fmt.Errorf("%s: %s", r.Outcome, r.Error)
	}
	var text *string
	if err := json.Unmarshal(r.Result, &text); err != nil || text == nil {
		return 0, err
	}
	return strconv.ParseInt(*text, 10, 64)
}

func (l *load) fail(format string, args ...any) {
	l.failed.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.problems) < 10 {
		l.problems = append(l.problems, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

// end lets the clients finish their requests.
func (l *load) end() {
	l.stop()
	l.all.Wait()
	slices.SortFunc(l.samples, func(a, b sample) int { return a.replied.Compare(b.replied) })
}

// firstAfter is the first acknowledged write that was sent after the moment.
func (l *load) firstAfter(at time.Time) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var first time.Time
	for _, w := range l.samples {
		if w.sent.After(at) && (first.IsZero() || w.replied.Before(first)) {
			first = w.replied
		}
	}
	return first, !first.IsZero()
}

// pause is the longest time without an acknowledged write. Only after end.
func (l *load) pause() time.Duration {
	longest := time.Duration(0)
	for i := 1; i < len(l.samples); i++ {
		longest = max(longest, l.samples[i].replied.Sub(l.samples[i-1].replied))
	}
	return longest
}

// verify compares every counter, read through every node, with what was
// acknowledged; a difference counts as a failure. Only after end.
func (l *load) verify(ctx context.Context, nodes int) {
	for node := range nodes {
		for id, want := range l.own {
			l.equal(ctx, node, l.ownKey(id), want)
		}
		l.equal(ctx, node, l.sharedKey(), l.shared.Load())
	}
}

func (l *load) equal(ctx context.Context, node int, key string, want int64) {
	switch n, err := count(l.cluster.Do(ctx, node, "GET", key)); {
	case err != nil:
		l.fail("final read of %s through n%d: %v", key, node+1, err)
	case n != want:
		l.fail("final value of %s through n%d is %d, acknowledged were %d", key, node+1, n, want)
	}
}
