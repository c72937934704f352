package cluster

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
)

// logCost measures the time that this node's log takes for a byte of large appends. A client that writes large values keeps
// others waiting there as much as by its applies, so its databases are charged for both (session.Ledger). The sync that ends
// every append is charged to nobody: it takes as long for one small request.
type logCost struct {
	perByte atomic.Uint64 // nanoseconds, as the bits of a float64
}

const (
	// largeAppend is the size in bytes of the smallest append that is measured: below it the sync, and not the bytes, determine how long it takes.
	largeAppend = 256 << 10
	// costWeight is the weight of the newest append in the average.
	costWeight = 0.25
	// The bytes of a large entry are charged handling times what the log took: they are received, copied, sent to others and kept, too. For a value of
	// 9 MB a node took six times as long as its log; the rest is for memory that a machine has not used before, where a page takes four times as long.
	handling = 10
)

// note measures an append. It is called by one goroutine at a time.
func (c *logCost) note(a logstore.Append) {
	if a.Err != nil || a.Bytes < largeAppend {
		return
	}
	now, before := float64(a.Took)/float64(a.Bytes), math.Float64frombits(c.perByte.Load())
	if before > 0 {
		now = before + costWeight*(now-before)
	}
	c.perByte.Store(math.Float64bits(now))
}

// of returns the time that an entry of so many bytes takes besides its apply.
func (c *logCost) of(bytes int) time.Duration {
	took := float64(bytes) * math.Float64frombits(c.perByte.Load())
	if bytes >= largeAppend {
		took *= handling
	}
	return time.Duration(took)
}

// storeHooks returns the hooks of the log store: the metrics', which also measure the cost of appends.
func (n *Node) storeHooks() logstore.Hooks {
	hooks := n.metrics.store()
	measured := hooks.Append
	hooks.Append = func(a logstore.Append) {
		measured(a)
		n.logCost.note(a)
	}
	return hooks
}
