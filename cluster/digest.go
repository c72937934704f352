package cluster

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

const (
	// digestEntries is the number of entries between two digests.
	digestEntries = 100_000
	// digestShare bounds the time of digests to one part in digestShare of a processor, if the leader's own digest takes as long as
	// those of other nodes.
	digestShare = 20
)

// digests keeps track of the digests that this node takes of its state.
type digests struct {
	begins uint64       // entries from here on are new: those before are applied again, at a start
	busy   atomic.Bool  // one is being taken
	took   atomic.Int64 // by the last one, in nanoseconds
}

// wants reports whether this node hashes the state as it is at an entry. It does not while it applies again what it
// applied before a restart: nobody asks for the digests of those states any more, and after each fork writes have to
// copy what they change. Nor does it begin a digest before the last one has ended.
func (d *digests) wants(index uint64) bool { return index >= d.begins && !d.busy.Load() }

// pace returns how long the leader waits after one digest before it has the next one taken.
func (d *digests) pace() time.Duration { return time.Duration(d.took.Load()) * digestShare }

// digest hashes a fork in the background and reports the result.
func (n *Node) digest(f *fsm.Frozen) {
	n.digests.busy.Store(true)
	n.wg.Go(func() {
		began := time.Now()
		d := f.Digest()
		n.digests.took.Store(int64(time.Since(began)))
		n.digests.busy.Store(false)
		n.log.Info("digest", "index", f.Index(), "digest", d)
		body := fsm.ReportDigest.Body(fsm.DigestReport{Index: f.Index(), Node: n.opts.NodeID, Digest: d})
		for range 20 {
			if leader, ok := n.leader(); ok {
				if _, err := n.proposeOnce(context.Background(), leader, fsm.ReportDigest.Code, body); err == nil || n.failed.Load() {
					return
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// verdict stops this node if its state differs from that of a majority. Its files
// stay for inspection; it comes back under a new id.
func (n *Node) verdict(v fsm.DigestVerdict) {
	for _, node := range v.Divergent {
		n.log.Error("a node's state differs from the majority's", "peer", node, "index", v.Index)
		if node == n.opts.NodeID {
			n.fatal(fmt.Sprintf("the state at index %d differs from the other nodes'; keep the data directory for inspection and let the node come back under a new id", v.Index))
		}
	}
}
