package workload

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
)

// insertsPerSet bounds a set, whose reads return all of it.
const insertsPerSet = 300

// Set puts unique members into a set and reads it whole.
type Set struct {
	Settings
	rec  *history.Recorder
	next atomic.Int64
}

// NewSet makes the workload; nothing runs yet.
func NewSet(s Settings) *Set { return &Set{Settings: s, rec: history.NewRecorder(s.Began)} }

// Name implements Workload.
func (w *Set) Name() string { return "set" }

// History implements Workload.
func (w *Set) History() []history.Op { return w.rec.Ops() }

// Check implements Workload.
func (w *Set) Check() check.Report { return check.Sets(w.rec.Ops()) }

// Run implements Workload.
func (w *Set) Run(ctx context.Context, t Target) {
	runClients(ctx, t, w.rec, w.Settings, func(c *client) {
		if c.rng.IntN(4) == 0 {
			c.run(history.Op{Key: setKey(w.next.Load()), Kind: history.Members})
			return
		}
		n := w.next.Add(1)
		c.run(history.Op{Key: setKey(n), Kind: history.Insert, Value: fmt.Sprint("m", n)})
	})
}

// Final reads every set through every node.
func (w *Set) Final(ctx context.Context, t Target) error {
	for n := int64(0); n <= w.next.Load(); n += insertsPerSet {
		for _, node := range everyNode(t) {
			if err := finalTransaction(ctx, t, w.rec, history.Op{Client: -1, Node: node, Key: setKey(n), Kind: history.Members}); err != nil {
				return err
			}
		}
	}
	return nil
}

func setKey(n int64) string { return fmt.Sprintf("set:%d", n/insertsPerSet) }
