package nemesis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/internal/failpoint"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// inject begins a fault. A fault with a duration ends with the context hold.
func (r *runner) inject(ctx, hold context.Context, step Step, node int) error {
	n := r.cluster.Nodes[node]
	switch step.Fault {
	case Kill, Restart:
		return unlessDown(n.Kill())
	case KillAll, ColdStart:
		return each(r.cluster.Nodes, (*testcluster.Node).Kill)
	case Pause:
		return unlessDown(n.Pause())
	case Stop:
		return unlessDown(n.Stop(stopGrace))
	case Failpoint:
		return n.Arm(step.Point + "=1*exit")
	case Clock:
		return n.Arm(fmt.Sprintf("%s=offset(%ds)", failpoint.WallClock, step.Amount))
	case SlowDisk:
		return n.Arm(fmt.Sprintf("%s=sleep(%dms)", failpoint.AfterFsync, step.Amount))
	case Slow:
		return slow(hold, n, step.Amount)
	case LowMemory:
		n.Tighten(step.Amount)
		return errors.Join(unlessDown(n.Kill()), start(n))
	case FewFiles:
		return unlessDown(n.FewFiles(uint64(step.Amount)))
	case Transfer:
		err := unlessLeaderless(r.cluster.TransferLeadership(ctx))
		if r.several && (errors.Is(err, testcluster.ErrStayed) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil) {
			return nil // whoever is to take over may not be reached in time, or the leader's own disk does not answer
		}
		return err
	case Storm:
		return r.storm(ctx, hold)
	case LostDisk:
		return r.cluster.LoseDisk(n)
	case Damage, OldCopy:
		err := r.corrupt(step, n)
		n.Excuse()
		if err != nil {
			return err
		}
		return n.Start()
	case Freeze, Full, PowerCut:
		n.Excuse()
		return injectDisk(step, n)
	case PowerCutAll:
		return each(r.cluster.Nodes, func(n *testcluster.Node) error {
			n.Excuse()
			return injectDisk(step, n)
		})
	default:
		return r.links.inject(r.cluster, step, node)
	}
}

// injectDisk begins a fault of a disk.
func injectDisk(step Step, n *testcluster.Node) error {
	switch step.Fault {
	case Freeze:
		return unlessDead(n.Disk.Freeze())
	case Full:
		return unlessDead(n.Disk.Fill(int64(step.Amount) << 10))
	default:
		return errors.Join(n.Disk.PowerCut(), unlessDown(n.Kill()))
	}
}

// undo ends a fault. A node that runs already is as it should be.
func (r *runner) undo(step Step, node int) error {
	n := r.cluster.Nodes[node]
	switch step.Fault {
	case Transfer, Storm:
		return nil
	case Pause, Slow:
		return unlessDown(n.Resume())
	case LowMemory:
		n.Tighten(0)
		return errors.Join(unlessDown(n.Kill()), start(n))
	case FewFiles:
		return unlessDown(n.FewFiles(0))
	case Failpoint, Clock, SlowDisk:
		return errors.Join(n.Arm(""), start(n))
	case KillAll:
		return each(r.cluster.Nodes, start)
	case ColdStart:
		return r.coldStart(node)
	case Damage, OldCopy:
		err := errors.Join(refused(step, n), r.cluster.LoseDisk(n))
		n.Blame()
		if err != nil {
			return err
		}
		fallthrough
	case LostDisk:
		ctx, cancel := context.WithTimeout(context.Background(), readyGrace)
		defer cancel()
		return r.cluster.Replace(ctx, n)
	case Freeze, Full, PowerCut:
		return mendDisk(step, n)
	case PowerCutAll:
		return each(r.cluster.Nodes, func(n *testcluster.Node) error { return mendDisk(step, n) })
	case Kill, Restart, Stop:
		return start(n)
	default:
		r.links.mend(r.cluster, step)
		return nil
	}
}

// mendDisk ends a fault of a disk and starts the node if it has ended.
func mendDisk(step Step, n *testcluster.Node) error {
	var err error
	switch step.Fault {
	case Freeze:
		err = unlessThawed(n.Disk.Thaw())
		n.AwaitExit(time.Second) // it may have decided to end while nothing could be written
	case Full:
		err = unlessDead(n.Disk.Empty())
	default: // what another fault has started on the dead disk is as good as gone
		err = errors.Join(unlessDown(n.Kill()), n.Disk.Recover(), unlessDown(n.Kill())) // the second one may have been started in between
	}
	err = errors.Join(err, start(n))
	n.Blame()
	return err
}

// corrupt leaves a node down, on data that it must not go on with.
func (r *runner) corrupt(step Step, n *testcluster.Node) error {
	if step.Fault == OldCopy {
		return r.oldCopy(n)
	}
	return r.damage(step, n)
}

// damage kills a node and damages a file of it. The others choose a leader before: what
// only that disk and a dead leader had would be lost otherwise, which is two disks.
func (r *runner) damage(step Step, n *testcluster.Node) error {
	if err := unlessDown(n.Kill()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyGrace)
	defer cancel()
	if err := r.cluster.Without(ctx, n); err != nil {
		return err
	}
	_, err := n.Damage(uint64(step.Amount))
	return err
}

// late is the delay of the last node of a cold start after the others.
const late = 2 * time.Second

// coldStart starts all nodes but one, which has to be enough, and that one later.
func (r *runner) coldStart(last int) error {
	for i, n := range r.cluster.Nodes {
		if i != last {
			if err := start(n); err != nil {
				return err
			}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyGrace)
	defer cancel()
	var err error
	for i, n := range r.cluster.Nodes {
		if i != last {
			err = errors.Join(err, r.cluster.WaitNodeReady(ctx, n))
		}
	}
	time.Sleep(late)
	return errors.Join(err, start(r.cluster.Nodes[last]))
}

// stormEvery is the time between two transfers of a storm.
const stormEvery = time.Second

// storm transfers leadership until hold ends. A transfer that fails, since an election
// is under way, is none.
func (r *runner) storm(ctx, hold context.Context) error {
	for done := 0; ; {
		err := r.cluster.TransferLeadership(ctx)
		if err == nil {
			done++
		}
		if !sleepUntil(hold, time.Now().Add(stormEvery)) {
			if done == 0 {
				return err
			}
			return nil
		}
	}
}

// turn is the length of a stop and the run after it of a slow node.
const turn = 40 * time.Millisecond

// slow stops a process for so many percent of the time.
func slow(hold context.Context, n *testcluster.Node, percent int) error {
	stopped := turn * time.Duration(percent) / 100
	for hold.Err() == nil {
		if err := n.Pause(); err != nil {
			return unlessDown(err)
		}
		time.Sleep(stopped)
		if err := n.Resume(); err != nil {
			return unlessDown(err)
		}
		sleepUntil(hold, time.Now().Add(turn-stopped))
	}
	return nil
}

// start starts a node that is down.
func start(n *testcluster.Node) error {
	if err := n.Start(); err != nil && !errors.Is(err, testcluster.ErrRunning) {
		return err
	}
	return nil
}

// unlessLeaderless takes it that another fault of the episode took the leader away, before
// it was asked or while it was.
func unlessLeaderless(err error) error {
	for _, gone := range []error{testcluster.ErrNoLeader, syscall.ECONNREFUSED, syscall.ECONNRESET, io.EOF} {
		if errors.Is(err, gone) {
			return nil
		}
	}
	return err
}

// unlessDead takes it that another fault of the episode cut the disk's power.
func unlessDead(err error) error {
	if errors.Is(err, syscall.EIO) {
		return nil
	}
	return err
}

// unlessThawed takes it that another fault of the episode cut the disk's power, and that it came back unfrozen.
func unlessThawed(err error) error {
	if errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// unlessDown takes it that a node is down for another fault of the episode.
func unlessDown(err error) error {
	if errors.Is(err, testcluster.ErrDown) || errors.Is(err, testcluster.ErrEnded) {
		return nil
	}
	return err
}
