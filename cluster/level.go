package cluster

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// checkLevel refuses a disk whose snapshots are of a feature level that this binary doesn't
// know. A level that only the log has raised is met when that entry is
// applied, and ends the process then.
func (n *Node) checkLevel() error {
	list, err := n.snapshots.List()
	if err != nil {
		return err
	}
	for _, s := range list {
		level, err := n.snapshotLevel(s.ID)
		if err != nil {
			n.log.Warn("the feature level of a snapshot can't be read", "snapshot", s.ID, "error", err)
			continue // whether it is needed, and damaged, is raft's to find out
		}
		if level > fsm.MaxLevel {
			return fmt.Errorf("%w: %s is at feature level %d, this version knows %d; start the node with the version that it ran last, or a newer one",
				ErrLevel, n.opts.DataDir, level, fsm.MaxLevel)
		}
	}
	return nil
}

func (n *Node) snapshotLevel(id string) (env.Level, error) {
	_, r, err := n.snapshots.Open(id)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return 0, err
	}
	defer dec.Close()
	return fsm.SnapshotLevel(dec)
}
