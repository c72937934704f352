package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Node proposes entries and follows the node's state and leadership; cluster.Node implements it.
type Node interface {
	fsm.Proposer
	Machine() *fsm.Machine
	// LeadingTerm is the term that the node leads, 0 if it doesn't.
	LeadingTerm() uint64
	// Now is cluster time in unix milliseconds.
	Now() int64
}

// AttachedRequest is a request that is proposed together with the next log entry that contains
// a matching operation, and only with such an entry.
type AttachedRequest interface {
	// Attached is closed when the request is part of an entry.
	Attached() <-chan struct{}
	// Cancel takes the request back. It returns false if the request is part of an entry already.
	Cancel() bool
	// Wait returns the result of the request's operation.
	Wait(context.Context) (any, error)
	// At returns the time at which the request became part of an entry, before that entry was stamped.
	At() time.Time
}

// NodeClaimer returns a Claimer that proposes to a node, and is a Piggybacker too. attach attaches a request
// to the next entry that contains an operation for which with returns true; cluster.Node.Piggyback
// does. It is passed by itself because this package does not import cluster.
func NodeClaimer[P AttachedRequest](n Node, attach func(code uint16, body []byte, with func(code uint16) bool) P) Claimer {
	return nodePiggybacker{nodeClaimer{n}, func(code uint16, body []byte) AttachedRequest { return attach(code, body, MakesDue) }}
}

// nodeClaimer proposes the operations of deliveries to a node's log.
type nodeClaimer struct{ n Node }

func (nc nodeClaimer) Changed() <-chan struct{} {
	_, next := nc.n.Machine().Applied()
	return next
}

func (nc nodeClaimer) Now() int64 { return nc.n.Now() }

func (nc nodeClaimer) Due() (at int64, ok bool) { return nc.n.Machine().NextMessage() }

// maxSchedules bounds how many schedules one Advance may fire, and with it the size of the entry
// and the time that the state machine's lock is held.
const maxSchedules = 200

func (nc nodeClaimer) DueSchedules(now int64) (list []queue.Schedule, at env.Time) {
	nc.n.Machine().View(now, [16]byte{}, func(v *fsm.View) { list, at = v.DueSchedules(maxSchedules), v.Time() })
	return list, at
}

// Advance carries the term that this node leads now. The state machine refuses it in an entry of
// another term, so a request that is forwarded to the next leader claims nothing.
func (nc nodeClaimer) Advance(ctx context.Context, d queue.Demand) ([]queue.Attempt, error) {
	n, err := nc.limit(d)
	if err != nil {
		return nil, err
	}
	out, err := fsm.Do(ctx, nc.n, fsm.Advance, n)
	return out.Attempts, err
}

func (nc nodeClaimer) limit(d queue.Demand) (fsm.AdvanceLimit, error) {
	n := fsm.AdvanceLimit{Deliver: true, Term: nc.n.LeadingTerm(), Claims: d.Claims, HostShare: d.HostShare, Ticks: d.Ticks, Spare: d.KeepSendersFree, Hosts: d.Hosts}
	if n.Term == 0 {
		return n, fsm.ErrNoLeader
	}
	nc.n.Machine().View(0, [16]byte{}, func(v *fsm.View) { n.Epoch = v.Epoch() })
	return n, nil
}

func (nc nodeClaimer) Renew(ctx context.Context, n queue.Renewal) (queue.Renewed, error) {
	return fsm.Do(ctx, nc.n, fsm.Renew, n)
}

func (nc nodeClaimer) Finish(ctx context.Context, n queue.Results) (queue.Dispositions, error) {
	return fsm.Do(ctx, nc.n, fsm.Finish, n)
}

// Commit is proposed as an operation of the attempt's database, which pays for the commands.
func (nc nodeClaimer) Commit(ctx context.Context, n queue.Answer) (out queue.Dispositions, err error) {
	if n.DB == "" {
		return fsm.Do(ctx, nc.n, fsm.FinishCommit, n)
	}
	var number uint64
	nc.n.Machine().View(0, [16]byte{}, func(v *fsm.View) { number = v.Database(n.DB) })
	owned, err := fsm.Do(ctx, nc.n, fsm.InDatabase, fsm.Owned{Database: n.DB, Number: number, Code: fsm.FinishCommit.Code, Body: fsm.FinishCommit.Body(n)})
	out, _ = owned.Value.(queue.Dispositions)
	return out, err
}

// Keys returns the signing keys of a database (empty = default) in the node's state now. A rotation is answered by the leader
// after it is applied there, so no attempt that the leader signs afterwards uses the old key.
func Keys(n Node, db string) queue.Keys {
	var k queue.Keys
	n.Machine().View(0, [16]byte{}, func(v *fsm.View) { k = v.MessagesOf(db).Keys() })
	return k
}

// nodePiggybacker attaches Advances to the entries that make something due.
type nodePiggybacker struct {
	nodeClaimer
	attach func(code uint16, body []byte) AttachedRequest
}

// MakesDue reports whether an operation may make a delivery due at once. What other operations
// make due, such as commands of a transaction, gets an Advance of its own.
func MakesDue(code uint16) bool {
	switch code {
	case fsm.Publish.Code, fsm.Finish.Code, fsm.FinishCommit.Code, fsm.Submit.Code, fsm.Await.Code, fsm.NotifyEvent.Code, fsm.EndRun.Code, fsm.Revive.Code, fsm.InDatabase.Code, fsm.RunNow.Code, fsm.RunSchedule.Code, fsm.ResumeRun.Code, fsm.MoveRuns.Code, fsm.ForkRun.Code:
		return true
	}
	return false
}

// Piggyback returns nil while this node doesn't lead.
func (p nodePiggybacker) Piggyback(d queue.Demand) Piggyback {
	n, err := p.limit(d)
	if err != nil {
		return nil
	}
	return nodePiggyback{p.attach(fsm.Advance.Code, fsm.Advance.Body(n))}
}

type nodePiggyback struct{ AttachedRequest }

var errNotAdvanced = errors.New("scheduler: expected the result of an Advance, got that of another operation")

func (p nodePiggyback) Attempts(ctx context.Context) ([]queue.Attempt, time.Time, error) {
	v, err := p.Wait(ctx)
	if err != nil {
		return nil, p.At(), err
	}
	out, ok := v.(fsm.Advanced)
	if !ok {
		return nil, p.At(), errNotAdvanced
	}
	return out.Attempts, p.At(), nil
}
