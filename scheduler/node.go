package scheduler

import (
	"context"

	"trireme/fsm"
	"trireme/fsm/queue"
)

// Node is what the scheduler needs of a node of the cluster.
type Node interface {
	fsm.Proposer
	Machine() *fsm.Machine
	// LeadingTerm is the term that the node leads, 0 if it doesn't.
	LeadingTerm() uint64
	// Now is cluster time in unix milliseconds.
	Now() int64
}

// OnNode is the Engine that a node is.
func OnNode(n Node) Engine { return logged{n} }

type logged struct{ n Node }

func (l logged) Changed() <-chan struct{} {
	_, next := l.n.Machine().Applied()
	return next
}

func (l logged) Now() int64 { return l.n.Now() }

func (l logged) Due() (at int64, ok bool) { return l.n.Machine().NextMessage() }

// maxSchedules is how many schedules one Advance may fire: what one entry carries and
// the lock is held for.
const maxSchedules = 200

func (l logged) DueSchedules(now int64) (list []queue.Schedule) {
	l.n.Machine().View(now, [16]byte{}, func(v *fsm.View) { list = v.Messages().DueSchedules(now, maxSchedules) })
	return list
}

// Advance is asked in the name of the term that this node leads now. The state machine
// refuses it in an entry of another one, so a request that is passed on to the next
// leader claims nothing.
func (l logged) Advance(ctx context.Context, d queue.Demand) ([]queue.Attempt, error) {
	n := fsm.AdvanceLimit{Deliver: true, Term: l.n.LeadingTerm(), Claims: d.Claims, HostShare: d.HostShare, Ticks: d.Ticks, Spare: d.Spare, Hosts: d.Hosts}
	if n.Term == 0 {
		return nil, fsm.ErrNoLeader
	}
	l.n.Machine().View(0, [16]byte{}, func(v *fsm.View) { n.Epoch = v.Epoch() })
	out, err := fsm.Do(ctx, l.n, fsm.Advance, n)
	return out.Attempts, err
}

func (l logged) Renew(ctx context.Context, n queue.Renewal) (queue.Renewed, error) {
	return fsm.Do(ctx, l.n, fsm.Renew, n)
}

func (l logged) Finish(ctx context.Context, n queue.Results) error {
	_, err := fsm.Do(ctx, l.n, fsm.Finish, n)
	return err
}

// Keys are the signing keys as the node knows them now. Whoever rotates them has its
// answer from the leader, so no attempt that the leader signs afterwards bears the old
// one.
func Keys(n Node) queue.Keys {
	var k queue.Keys
	n.Machine().View(0, [16]byte{}, func(v *fsm.View) { k = v.Messages().Keys() })
	return k
}
