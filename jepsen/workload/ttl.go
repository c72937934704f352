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
func (w *TTL) Name() string { return "ttl" }

// History implements Workload.
func (w *TTL) History() []history.Op { return w.rec.Ops() }

// Check implements Workload.
func (w *TTL) Check() check.Report { return check.Expiries(w.rec.Ops()) }

// recent is how many keys readers draw from.
const recent = 20

// Run implements Workload.
func (w *TTL) Run(ctx context.Context, t Target) {
	runClients(ctx, t, w.rec, w.Settings, func(c *client) {
		w.mu.Lock()
		op := history.Op{Kind: history.Timed}
		if c.rng.IntN(4) == 0 || len(w.alive) == 0 {
			w.made++
			op = history.Op{Kind: history.Expiring, Key: fmt.Sprintf("ttl:%d", w.made), Value: fmt.Sprint(w.made), Delta: 1 + c.rng.Int64N(mostLife)}
			w.alive = append(w.alive, op.Key)
			w.alive = w.alive[max(0, len(w.alive)-recent):]
		} else {
			op.Key = w.alive[c.rng.IntN(len(w.alive))]
		}
		w.mu.Unlock()
		c.run(op)
	})
}

// Final reads the keys that were set last through every node.
func (w *TTL) Final(ctx context.Context, t Target) error {
	for _, key := range w.alive {
		for _, node := range everyNode(t) {
			if err := finalTransaction(ctx, t, w.rec, history.Op{Client: -1, Node: node, Key: key, Kind: history.Timed}); err != nil {
				return err
			}
		}
	}
	return nil
}
