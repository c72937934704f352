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
func (s *Set) Name() string { return "set" }

// History implements Workload.
func (s *Set) History() []history.Op { return s.rec.Ops() }

// Check implements Workload.
func (s *Set) Check() check.Report { return check.Sets(s.rec.Ops()) }

// Run implements Workload.
func (s *Set) Run(ctx context.Context, t Target) {
	runClients(ctx, t, s.rec, s.Settings, func(c *client) {
		if c.rng.IntN(4) == 0 {
			c.run(history.Op{Key: setKey(s.next.Load()), Kind: history.Members})
			return
		}
		n := s.next.Add(1)
		c.run(history.Op{Key: setKey(n), Kind: history.Insert, Value: fmt.Sprint("m", n)})
	})
}

// Final reads every set through every node.
func (s *Set) Final(ctx context.Context, t Target) error {
	for n := int64(0); n <= s.next.Load(); n += insertsPerSet {
		for _, node := range everyNode(t) {
			if err := finalTransaction(ctx, t, s.rec, history.Op{Client: -1, Node: node, Key: setKey(n), Kind: history.Members}); err != nil {
				return err
			}
		}
	}
	return nil
}

func setKey(n int64) string { return fmt.Sprintf("set:%d", n/insertsPerSet) }
