package cluster

import (
	"context"
	"errors"
	"syscall"
	"time"
)

// roomPoll is the pause after which a start looks for room on a full disk again.
const roomPoll = 250 * time.Millisecond

// whenRoom runs a step of a start that writes small files. On a full disk it releases the reserve, and then waits until there
// is room or ctx ends: a process that ended instead would be started again, and find no more room. The step changes nothing
// when it fails.
func (n *Node) whenRoom(ctx context.Context, step func() error) error {
	for told := false; ; {
		err := step()
		switch {
		case !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT):
			return err
		case n.store != nil && n.store.MakeRoom():
			continue
		case !told:
			told = true
			n.log.Warn("the disk is full: this node starts when it has room", "dir", n.opts.DataDir, "error", err)
		}
		select {
		case <-time.After(roomPoll):
		case <-ctx.Done():
			return err
		}
	}
}
