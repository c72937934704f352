package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// batch holds what one node sends in one call: requests of its session, and the low-water mark below which it awaits no
// outcome.
type batch struct {
	lowWater fsm.LowWater
	requests []fsm.Request
	costly   bool // of a database that has used its share, or large; known to the leader
	// answer is called once, with the outcomes or with an error. sure says that this try has not applied and will not
	// apply anything of the batch.
	answer func(outcomes []fsm.Outcome, err error, sure bool)
}

func (b *batch) size() (n int) {
	for i := range b.requests {
		n += len(b.requests[i].Body) + session.FrameCost
	}
	return n
}

// encode writes a batch for the way to the leader.
func (b *batch) encode() []byte {
	w := wire.Writer{B: make([]byte, 0, b.size()+32)}
	w.Uvarint(b.lowWater.Session)
	w.Uvarint(b.lowWater.Below)
	fsm.EncodeRequests(&w, b.requests)
	return w.B
}

func decodeBatch(payload []byte) (*batch, error) {
	r := wire.NewReader(payload)
	b := &batch{lowWater: fsm.LowWater{Session: r.Uvarint(), Below: r.Uvarint()}, requests: fsm.DecodeRequests(r)}
	return b, r.Done()
}

// answerBatch writes the answer to a forwarded batch.
func answerBatch(b *batch, outcomes []fsm.Outcome, err error, sure bool) []byte {
	var w wire.Writer
	w.Bool(err != nil)
	if err != nil {
		w.Bool(sure)
		w.String(err.Error())
		return w.B
	}
	fsm.EncodeOutcomes(&w, outcomes)
	return w.B
}

// readBatchAnswer reads what answerBatch wrote.
func readBatchAnswer(b *batch, payload []byte) (outcomes []fsm.Outcome, err error, sure bool) {
	r := wire.NewReader(payload)
	if r.Bool() {
		sure = r.Bool()
		return nil, errors.New(r.String()), sure
	}
	if outcomes, err = fsm.DecodeOutcomes(r, b.lowWater.Session); err == nil && len(outcomes) != len(b.requests) {
		err = errors.New("cluster: answer to a batch of another size")
	}
	return outcomes, err, false
}

// entryInRaft is an entry whose outcome is not known yet.
type entryInRaft struct {
	term    uint64
	stamp   int64 // 0 before it has one
	batches []*batch
	room    fsm.Room
	costly  bool
}

// count returns the number of requests in all batches.
func (ir *entryInRaft) count() (n int) {
	for _, b := range ir.batches {
		n += len(b.requests)
	}
	return n
}

// requests returns the requests of all batches.
func (ir *entryInRaft) requests() []fsm.Request {
	all := make([]fsm.Request, 0, ir.count())
	for _, b := range ir.batches {
		all = append(all, b.requests...)
	}
	return all
}

func (ir *entryInRaft) lowWaters() (all []fsm.LowWater) {
	for _, b := range ir.batches {
		if b.lowWater.Session != 0 {
			all = append(all, b.lowWater)
		}
	}
	return all
}

// A Piggyback is a request attached to the next log entry that contains a matching request: after the others, so that it
// finds their effects, and without an entry of its own. It is proposed only together with such an entry.
type Piggyback struct {
	n    *Node
	code uint16
	body []byte
	with func(code uint16) bool

	// attached is closed when it is part of an entry; at and call are set by then.
	attached chan struct{}
	at       time.Time
	call     *session.Call
}

// Piggyback attaches a request to the next entry that this node makes as the leader and that holds a request whose code
// with accepts. One piggyback waits at a time: a later one replaces an earlier one, which is never attached then.
func (n *Node) Piggyback(code uint16, body []byte, with func(code uint16) bool) *Piggyback {
	r := &Piggyback{n: n, code: code, body: body, with: with, attached: make(chan struct{})}
	m := n.committer
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pendingPiggyback = r
	return r
}

// Attached is closed when the request has become part of an entry, whose outcome Wait returns.
func (p *Piggyback) Attached() <-chan struct{} { return p.attached }

// At returns the time at which the request was attached, before its entry was stamped.
func (p *Piggyback) At() time.Time { return p.at }

// Cancel withdraws the request. It returns false if the request was attached already.
func (p *Piggyback) Cancel() bool {
	m := p.n.committer
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-p.attached:
		return false
	default:
	}
	if m.pendingPiggyback == p {
		m.pendingPiggyback = nil
	}
	return true
}

// Wait returns the outcome of an attached request, as Propose does.
func (p *Piggyback) Wait(ctx context.Context) (any, error) {
	select {
	case out := <-p.call.Done():
		return out.Value, out.Err
	case <-ctx.Done():
	}
	out := p.n.proposer.Cancel(p.call)
	return out.Value, out.Err
}

// attachPiggyback returns the batch of the request that is attached to batches, nil if there is none.
func (gc *groupCommitter) attachPiggyback(batches []*batch) *batch {
	gc.mu.Lock()
	defer gc.mu.Unlock()
	r := gc.pendingPiggyback
	if r == nil || !slices.ContainsFunc(batches, r.matches) {
		return nil
	}
	b := gc.n.proposer.attachPiggyback(r)
	if b != nil {
		gc.pendingPiggyback = nil
		r.at = time.Now()
		close(r.attached)
	}
	return b
}

func (p *Piggyback) matches(b *batch) bool {
	return slices.ContainsFunc(b.requests, func(q fsm.Request) bool { return p.with(q.Code) })
}

// attachPiggyback gives a piggyback an identity of this node's session; nil while there is none.
func (p *proposer) attachPiggyback(r *Piggyback) *batch {
	c, k := p.AttachRequest(r.code, r.body)
	if k == nil {
		return nil
	}
	r.call = c
	return &batch{requests: k.Requests, answer: func(outcomes []fsm.Outcome, err error, sure bool) { p.FinishPiggyback(k, outcomes, err, sure) }}
}
