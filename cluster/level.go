package cluster

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
)

// checkLevels refuses a disk whose snapshots are of a feature level that this binary doesn't know yet, or whose newest sound
// one is of a level that it doesn't read any more. It changes nothing. A level that only the log has raised is met when that
// entry is applied, and ends the process then.
func (n *Node) checkLevels(list []logstore.Snapshot) error {
	newest := true
	for _, s := range list {
		if s.Damage != nil {
			continue // whether it is needed is the log's to find out
		}
		level, err := snapshotLevel(s)
		switch {
		case err != nil:
			n.log.Warn("the feature level of a snapshot can't be read", "snapshot", s.ID, "error", err)
			continue
		case level > fsm.MaxLevel:
			return fmt.Errorf("%w: %s is at feature level %d, this version knows %d; start the node with the version that it ran last, or a newer one",
				ErrLevel, n.opts.DataDir, level, fsm.MaxLevel)
		case newest && level < env.Base:
			return n.formerLevelError(level)
		}
		newest = false
	}
	return nil
}

// formerLevelError refuses the data directory because of its level.
func (n *Node) formerLevelError(level env.Level) error {
	return fmt.Errorf("%s: %w", n.opts.DataDir, fsm.FormerLevel(level))
}

// checkFounding refuses a log without a snapshot whose cluster was founded at a level that this binary doesn't read any more.
// It is called with the data of the entries from the first on, until more is false.
func (n *Node) checkFounding(data []byte) (more bool, err error) {
	level, founds := fsm.FoundedAt(data)
	if !founds {
		return true, nil
	}
	if level < env.Base {
		return false, n.formerLevelError(level)
	}
	return false, nil
}

func snapshotLevel(s logstore.Snapshot) (env.Level, error) {
	r, err := s.Open()
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
