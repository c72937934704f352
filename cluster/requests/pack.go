package requests

import (
	"cmp"
	"slices"

	"trireme/fsm"
	"trireme/fsm/reply"
	"trireme/mutant"
)

// Pack is what one node sends to the leader in one call: requests of its session, and the
// mark below which it awaits nothing.
type Pack struct {
	Mark     fsm.Mark
	Requests []fsm.Request
	round    uint64
}

// Idle tells whether there is nothing to send now: no request waits, or as many packs are
// under way as may be.
func (p *Ledger) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue) == 0 || p.underWay >= packsUnderWay
}

// Paused tells, once, that a pack has failed, so that the next try should wait a moment.
func (p *Ledger) Paused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.pause
	p.pause = false
	return was
}

// Take gives the next pack, up to PackBytes; nil if there is none. Finish must be told
// what became of it.
func (p *Ledger) Take() *Pack {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take()
}

// TakeMore is Take, also beyond the packs that may be under way, for a pack that goes
// along with one of them: nil while there is none, or while a try has failed.
func (p *Ledger) TakeMore() *Pack {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == 0 || p.pause || p.stopping || p.underWay == 0 {
		return nil
	}
	return p.take()
}

// Waiting is how many requests are in no pack.
func (p *Ledger) Waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queue)
}

// take is Take; the lock is held.
func (p *Ledger) take() *Pack {
	size, count := 0, 0
	k := &Pack{Mark: fsm.Mark{Session: p.session, Below: p.lowest()}, round: p.round, Requests: make([]fsm.Request, 0, len(p.queue))}
	for _, c := range p.queue {
		if p.pending[c.seq] != c { // given up by its client
			count++
			continue
		}
		if size += len(c.body) + FrameCost; size > PackBytes && len(k.Requests) > 0 {
			break
		}
		count++
		c.flights++
		k.Requests = append(k.Requests, fsm.Request{Session: p.session, Seq: c.seq, Code: c.code, Body: c.body})
		if mutant.Is(mutant.AcknowledgedEarly) && c.code == fsm.Exec.Code {
			p.settle(c, Result{Value: fsm.Results{Values: []reply.Value{reply.OK()}}})
		}
	}
	if p.queue = slices.Delete(p.queue, 0, count); len(p.queue) == 0 && cap(p.queue) > keptQueue {
		p.queue = nil
	}
	if len(k.Requests) == 0 {
		return nil
	}
	p.underWay++
	return k
}

// keptQueue is how many places an empty queue holds on to.
const keptQueue = 1 << 12

// lowest is the least sequence that is still awaited; the lock is held.
func (p *Ledger) lowest() uint64 {
	for p.low < p.seq && p.pending[p.low] == nil {
		p.low++
	}
	return p.low
}

// Finish takes in a pack's answer: its outcomes, or why there are none. sure says that
// nothing of the pack was or will be applied by this try.
func (p *Ledger) Finish(k *Pack, outcomes []fsm.Outcome, err error, sure bool) {
	p.Resolve(outcomes)
	p.mu.Lock()
	defer p.mu.Unlock()
	again, gone := err != nil, false
	for i := range k.Requests {
		c := p.pending[k.Requests[i].Seq]
		if c == nil || k.Mark.Session != p.session {
			continue
		}
		refused := i < len(outcomes) && outcomes[i].Status == fsm.Refused
		again = again || refused
		gone = gone || (i < len(outcomes) && outcomes[i].Status == fsm.Gone)
		if refused || (err != nil && sure) {
			c.flights--
		}
	}
	if gone {
		p.drop()
	} else if k.round == p.round { // otherwise this try was given up meanwhile
		p.underWay--
		if again {
			p.resend()
		}
	}
	p.wake()
}

// Board gives a request an identity and a pack of its own, which goes along with those of
// others; nil while there is no session. Arrive must be told what became of it.
func (p *Ledger) Board(code uint16, body []byte) (*Call, *Pack) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == 0 || p.stopping {
		return nil, nil
	}
	c := p.enter(code, body, p.now())
	c.flights = 1
	return c, &Pack{Requests: []fsm.Request{{Session: p.session, Seq: c.seq, Code: code, Body: body}}}
}

// Arrive takes in the answer to a pack of Board. Without an outcome its request is
// proposed like any other.
func (p *Ledger) Arrive(k *Pack, outcomes []fsm.Outcome, err error, sure bool) {
	p.Resolve(outcomes)
	q := &k.Requests[0]
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.pending[q.Seq]
	if c == nil || q.Session != p.session {
		return
	}
	status := fsm.Refused
	if err == nil {
		status = outcomes[0].Status
	}
	if status == fsm.Refused && (err == nil || sure) {
		c.flights--
	}
	if status == fsm.Gone {
		p.drop()
	} else {
		p.resend()
	}
	p.wake()
}

// resend queues everything without an outcome again, in sequence order before what is
// new.
func (p *Ledger) resend() {
	p.round++
	p.underWay = 0
	p.pause = true
	p.queue = nil
	for _, c := range p.pending { // unordered: sorted below
		p.queue = append(p.queue, c)
	}
	slices.SortFunc(p.queue, func(a, b *Call) int { return cmp.Compare(a.seq, b.seq) })
}

// Lose ends the session, because the state has none of its kind any more: a backup was restored.
func (p *Ledger) Lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop()
	p.wake()
}

// drop ends the session: what was ever sent under it is unknown, the rest moves to the
// next one.
func (p *Ledger) drop() {
	p.session = 0
	for _, c := range p.pending { // unordered: each is told alone
		if c.flights > 0 && !mutant.Is(mutant.SentAgain) {
			p.settle(c, Result{nil, fsm.ErrUnknown})
		}
	}
	p.resend()
}
