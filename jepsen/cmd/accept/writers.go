package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/jepsen/history"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// writer counts on a key of its own and writes a fresh key with every count.
type writer struct {
	node         int
	acknowledged int64 // additions
	unknown      int64 // additions whose outcome is not known
	fresh        []int // numbers of the fresh keys whose writes were acknowledged
}

func acknowledged(w *writer) int64 { return w.acknowledged + int64(len(w.fresh)) }
func unknown(w *writer) int64      { return w.unknown }

// writerSet is the writers of one round.
type writerSet struct {
	cluster  *testcluster.Cluster
	prefix   string
	stop     context.CancelFunc
	all      sync.WaitGroup
	clients  []*writer
	wrong    int64
	problems []string
}

// startWriters starts writers on all nodes.
func startWriters(c *testcluster.Cluster, prefix string) *writerSet {
	ctx, stop := context.WithCancel(context.Background())
	s := &writerSet{cluster: c, prefix: prefix, stop: stop}
	for id := range writers {
		w := &writer{node: id % c.Size()}
		s.clients = append(s.clients, w)
		s.all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				s.step(w, id, i)
			}
		})
	}
	return s
}

func (s *writerSet) counter(id int) string  { return fmt.Sprintf("%s:count:%d", s.prefix, id) }
func (s *writerSet) fresh(id, i int) string { return fmt.Sprintf("%s:fresh:%d:%d", s.prefix, id, i) }

// step makes one addition and one fresh key. A node that is down makes the
// writer rest, or it would spin.
func (s *writerSet) step(w *writer, id, i int) {
	ctx := context.Background()
	switch s.cluster.Do(ctx, w.node, "INCR", s.counter(id)).Outcome {
	case history.OK:
		w.acknowledged++
	case history.Unknown:
		w.unknown++
		time.Sleep(10 * time.Millisecond)
	default:
		time.Sleep(10 * time.Millisecond)
	}
	if s.cluster.Do(ctx, w.node, "SET", s.fresh(id, i), strconv.Itoa(i)).Outcome == history.OK {
		w.fresh = append(w.fresh, i)
	}
}

// end lets the writers finish.
func (s *writerSet) end() {
	s.stop()
	s.all.Wait()
}

// verify checks every acknowledged write, through another node than wrote it.
func (s *writerSet) verify(ctx context.Context) {
	for id, w := range s.clients {
		node := (w.node + 1) % s.cluster.Size()
		n, err := count(s.cluster.Do(ctx, node, "GET", s.counter(id)))
		if err != nil || n < w.acknowledged || n > w.acknowledged+w.unknown {
			s.report("%s is %d (%v), acknowledged were %d, unknown %d", s.counter(id), n, err, w.acknowledged, w.unknown)
		}
		for _, i := range w.fresh {
			n, err := count(s.cluster.Do(ctx, node, "GET", s.fresh(id, i)))
			if err != nil || n != int64(i) {
				s.report("%s is %d (%v), acknowledged was %d", s.fresh(id, i), n, err, i)
			}
		}
	}
}

func (s *writerSet) report(format string, args ...any) {
	s.wrong++
	if len(s.problems) < 10 {
		s.problems = append(s.problems, fmt.Sprintf(format, args...))
	}
}
