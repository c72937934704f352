package scheduler

import (
	"context"
	"errors"
	"time"

	"trireme/cluster"
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

// conveyance is a node that has requests go along with entries made for others.
type conveyance interface {
	Ride(code uint16, body []byte, with func(code uint16) bool) *cluster.Ride
}

// OnNode is the Engine that a node is. It is a Rider if the node can have requests go along
// with others.
func OnNode(n Node) Engine {
	if c, ok := n.(conveyance); ok {
		return riding{logged{n}, c}
	}
	return logged{n}
}

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
	n, err := l.limit(d)
	if err != nil {
		return nil, err
	}
	out, err := fsm.Do(ctx, l.n, fsm.Advance, n)
	return out.Attempts, err
}

func (l logged) limit(d queue.Demand) (fsm.AdvanceLimit, error) {
	n := fsm.AdvanceLimit{Deliver: true, Term: l.n.LeadingTerm(), Claims: d.Claims, HostShare: d.HostShare, Ticks: d.Ticks, Spare: d.Spare, Hosts: d.Hosts}
	if n.Term == 0 {
		return n, fsm.ErrNoLeader
	}
	l.n.Machine().View(0, [16]byte{}, func(v *fsm.View) { n.Epoch = v.Epoch() })
	return n, nil
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

// riding is a node whose Advances go along with entries.
type riding struct {
	logged
	c conveyance
}

// MakesDue tells whether an operation may make a delivery due at once. What others make due,
// such as commands of a transaction, has an Advance of its own.
func MakesDue(code uint16) bool {
	switch code {
	case fsm.Publish.Code, fsm.Finish.Code, fsm.Submit.Code, fsm.Await.Code, fsm.NotifyEvent.Code, fsm.EndRun.Code, fsm.Revive.Code:
		return true
	}
	return false
}

// Ride is nil while this node doesn't lead.
func (r riding) Ride(d queue.Demand) Ride {
	n, err := r.limit(d)
	if err != nil {
		return nil
	}
	return ride{r.c.Ride(fsm.Advance.Code, fsm.Advance.Body(n), MakesDue)}
}

type ride struct{ r *cluster.Ride }

func (r ride) Boarded() <-chan struct{} { return r.r.Boarded() }
func (r ride) Cancel() bool             { return r.r.Cancel() }

var errAnswer = errors.New("scheduler: an Advance was answered with something else")

func (r ride) Attempts(ctx context.Context) ([]queue.Attempt, time.Time, error) {
	v, err := r.r.Wait(ctx)
	if err != nil {
		return nil, r.r.At(), err
	}
	out, ok := v.(fsm.Advanced)
	if !ok {
		return nil, r.r.At(), errAnswer
	}
	return out.Attempts, r.r.At(), nil
}
