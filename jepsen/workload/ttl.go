package workload

import (
	"context"
	"fmt"
	"sync"

	"github.com/trireme-dev/trireme/jepsen/check"
	"github.com/trireme-dev/trireme/jepsen/history"
)

// mostLife bounds the time that a key is given, in milliseconds.
const mostLife = 3000

// TTL sets keys that expire, each once, and reads them around their end together with
// cluster time.
type TTL struct {
	Settings
	rec *history.Recorder

	mu    sync.Mutex
	alive []string // keys set lately
	made  int
}

// NewTTL makes the workload; nothing runs yet.
func NewTTL(s Settings) *TTL { return &TTL{Settings: s, rec: history.NewRecorder(s.Began)} }

// Name implements Workload.
func (tt *TTL) Name() string { return "ttl" }

// History implements Workload.
func (tt *TTL) History() []history.Op { return tt.rec.Ops() }

// Check implements Workload.
func (tt *TTL) Check() check.Report { return check.Expiries(tt.rec.Ops()) }

// recent is the number of newest keys that readers choose from.
const recent = 20

// Run implements Workload.
func (tt *TTL) Run(ctx context.Context, t Target) {
	runClients(ctx, t, tt.rec, tt.Settings, func(c *client) {
		tt.mu.Lock()
		op := history.Op{Kind: history.Timed}
		if c.rng.IntN(4) == 0 || len(tt.alive) == 0 {
			tt.made++
			op = history.Op{Kind: history.Expiring, Key: fmt.Sprintf("ttl:%d", tt.made), Value: fmt.Sprint(tt.made), Delta: 1 + c.rng.Int64N(mostLife)}
			tt.alive = append(tt.alive, op.Key)
			tt.alive = tt.alive[max(0, len(tt.alive)-recent):]
		} else {
			op.Key = tt.alive[c.rng.IntN(len(tt.alive))]
		}
		tt.mu.Unlock()
		c.run(op)
	})
}

// Final reads the keys that were set last through every node.
func (tt *TTL) Final(ctx context.Context, t Target) error {
	for _, key := range tt.alive {
		for _, node := range everyNode(t) {
			if err := finalTransaction(ctx, t, tt.rec, history.Op{Client: -1, Node: node, Key: key, Kind: history.Timed}); err != nil {
				return err
			}
		}
	}
	return nil
}
