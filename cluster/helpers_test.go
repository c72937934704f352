package cluster_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clustertest"
)

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// load is the work of clients, which goes on until its end.
type load struct {
	done    atomic.Int64 // how often work has succeeded
	stopped atomic.Bool
	wg      sync.WaitGroup
}

// startLoad has so many clients work, each again and again while work says that it goes on.
func startLoad(clients int, work func(client int) (done, goesOn bool)) *load {
	l := new(load)
	for i := range clients {
		l.wg.Go(func() {
			for goesOn := true; goesOn && !l.stopped.Load(); {
				var done bool
				if done, goesOn = work(i); done {
					l.done.Add(1)
				}
			}
		})
	}
	return l
}

// end stops the clients and returns how often work has succeeded.
func (l *load) end() int64 {
	l.stopped.Store(true)
	l.wg.Wait()
	return l.done.Load()
}

// count counts through the nodes that stay. A request that fails there is an error of the test.
func count(t *testing.T, c *clustertest.Cluster, stays ...int) *load {
	return startLoad(4*len(stays), func(client int) (bool, bool) {
		i := stays[client/4]
		v, err := c.Write(i, "INCR", "n")
		if err != nil || v.IsError() {
			t.Errorf("a request failed on a node that stays, n%d: %v %v", i+1, v, err)
			return false, false
		}
		return true, true
	})
}

// agrees compares the counter, read through a node, with what was acknowledged.
func (l *load) agrees(t *testing.T, c *clustertest.Cluster, i int) {
	t.Helper()
	acknowledged := l.end()
	if v, err := c.Read(i, "GET", "n"); err != nil || v.Text() != fmt.Sprint(acknowledged) {
		t.Errorf("the counter is %s (%v), acknowledged were %d", v.Text(), err, acknowledged)
	}
	t.Logf("%d increments", acknowledged)
}

// reasons keeps why processes have ended, by their names.
type reasons struct{ sync.Map }

func (r *reasons) by(who string) func(reason string) {
	return func(reason string) { r.Store(who, reason) }
}

func (r *reasons) of(who string) string {
	reason, _ := r.Load(who)
	text, _ := reason.(string)
	return text
}
