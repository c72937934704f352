package nemesis

import (
	"context"
	"fmt"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	// forgotten is the time for which a node serves before its data are replaced by the older copy.
	forgotten = time.Second
	// refusal bounds the time in which a node on an older copy of its data detects that and ends.
	refusal = 15 * time.Second
)

// oldCopy has a node serve for a while, and forget it: it is left down on a copy of its data that was made before. As
// with damage, the others choose a leader first.
func (r *runner) oldCopy(n *testcluster.Node) error {
	if err := unlessDown(n.Kill()); err != nil {
		return err
	}
	if err := n.KeepCopy(); err != nil {
		return err
	}
	if err := n.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyGrace)
	defer cancel()
	if err := r.cluster.WaitNodeReady(ctx, n); err != nil {
		return err
	}
	sleepUntil(ctx, time.Now().Add(forgotten))
	if err := n.Kill(); err != nil {
		return err
	}
	if err := r.cluster.Without(ctx, n); err != nil {
		return err
	}
	return n.PutBack()
}

// refused tells that a node runs on an older copy of its data.
func refused(step Step, n *testcluster.Node) error {
	if step.Fault != OldCopy {
		return nil
	}
	n.AwaitExit(refusal)
	if n.Pid() != 0 {
		return fmt.Errorf("%s runs on an older copy of its data; its log ends:\n%s", n.ID, n.Tail(20))
	}
	return nil
}
