package sim

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/trireme-dev/trireme/cluster/session"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/scheduler"
)

// scheduled decides about attempts: the product's own policy.
type scheduled = scheduler.Policy

const (
	// senders and share are few, so that limits are met.
	senders, share = 6, 4
	// reportTime bounds one try to report results, and giveUp all tries.
	reportTime = 5 * time.Second
	giveUp     = (queue.Lease + queue.LeaseMargin) * time.Millisecond
	// dueSchedules is the most schedules that one Advance fires.
	dueSchedules = 200
)

func newDeliverer(l *life) *deliverer {
	return &deliverer{l: l, policy: scheduler.NewPolicy(senders, share, l.n.w.now())}
}

// asking is an Advance under way.
type asking struct {
	call   *session.Call
	demand queue.Demand
	begun  time.Time
}

// renewal is a Renew under way.
type renewal struct {
	call  *session.Call
	refs  []queue.AttemptRef
	begun time.Time
}

// reporting is a Finish under way.
type reporting struct {
	call  *session.Call
	list  []*attempt
	begun time.Time
}

// claim has the leader's scheduler ask for what is due.
func (n *node) claim() {
	l := n.life
	if l == nil || l.deliverer == nil || l.deliverer.over || l.deliverer.asking != nil || !l.opened {
		return
	}
	k := l.deliverer
	now := l.clock.Peek()
	at, some := n.machine.NextMessage()
	if k.opened && k.policy.Free(n.w.now()) <= 0 {
		return
	}
	if k.opened && (!some || at > now) {
		d := k.policy.Demand(n.w.now(), env.Time{}, nil)
		l.pendingPiggyback = &piggyback{d, fsm.Advance.Body(n.limit(d))}
		return
	}
	l.pendingPiggyback = nil
	var due []queue.Schedule
	var times env.Time
	n.machine.View(now, [16]byte{}, func(v *fsm.View) { due, times = v.DueSchedules(dueSchedules), v.Time() })
	d := k.policy.Demand(n.w.now(), times, due)
	if c, err := l.ledger.Add(fsm.Advance.Code, fsm.Advance.Body(n.limit(d))); err == nil {
		k.asking = &asking{c, d, n.w.now()}
	}
}

// limit returns the argument of an Advance in the term that this node leads.
func (n *node) limit(d queue.Demand) fsm.AdvanceLimit {
	limit := fsm.AdvanceLimit{Deliver: true, Term: n.life.leads, Claims: d.Claims, HostShare: d.HostShare, Ticks: d.Ticks, Spare: d.KeepSendersFree, Hosts: d.Hosts}
	n.machine.View(0, [16]byte{}, func(v *fsm.View) { limit.Epoch = v.Epoch() })
	return limit
}

// piggyback is an Advance that is attached to the next entry that makes something due.
type piggyback struct {
	demand queue.Demand
	body   []byte
}

// attach returns the batch of the Advance that is attached to batches, or nil.
func (l *life) attach(batches []*packet) *packet {
	makesDue := func(k *packet) bool {
		return slices.ContainsFunc(k.requests, func(q fsm.Request) bool { return scheduler.MakesDue(q.Code) })
	}
	if l.pendingPiggyback == nil || l.deliverer.over || l.deliverer.asking != nil || !slices.ContainsFunc(batches, makesDue) {
		return nil
	}
	c, k := l.ledger.AttachRequest(fsm.Advance.Code, l.pendingPiggyback.body)
	if k == nil {
		return nil
	}
	l.deliverer.asking = &asking{c, l.pendingPiggyback.demand, l.n.w.now()}
	l.pendingPiggyback = nil
	return &packet{from: l, to: l.n, requests: k.Requests, end: func(o []fsm.Outcome, err error, sure bool) { l.ledger.FinishPiggyback(k, o, err, sure) }}
}

// collect takes in what the process's own requests have come to.
func (l *life) collect() {
	if k := l.deliverer; k != nil && k.asking != nil {
		if r, ok := outcome(k.asking.call); ok {
			k.start(k.asking, r)
		}
	}
	if k := l.deliverer; k != nil && k.renews != nil {
		if r, ok := outcome(k.renews.call); ok {
			k.renewed(k.renews, r)
		}
	}
	if l.reporting == nil {
		return
	}
	if r, ok := outcome(l.reporting.call); ok {
		l.reported(r.Err)
	}
}

func outcome(c *session.Call) (session.Result, bool) {
	select {
	case r := <-c.Done():
		return r, true
	default:
		return session.Result{}, false
	}
}

// start sends what was claimed.
func (d *deliverer) start(n *asking, r session.Result) {
	d.asking = nil
	out, ok := r.Value.(fsm.Advanced)
	if r.Err != nil || !ok || d.over {
		return
	}
	d.opened = true
	d.policy.Committed(n.demand)
	w := d.l.n.w
	for i := range out.Attempts {
		a := &attempt{Attempt: out.Attempts[i], deliverer: d, begun: n.begun.Sub(began)}
		d.policy.Claimed(&a.Attempt, func() { w.abandon(a) }, n.begun)
		if !w.wanted(d.l.n, a) {
			a.over = true
			a.result, a.finished = queue.Result{AttemptRef: a.Ref(), Error: "nobody wants it"}, w.now()
			d.l.results = append(d.l.results, a)
			continue
		}
		w.arrive(a)
	}
}

// abandon ends an attempt whose lease is lost, or whose sender leads no more.
func (w *world) abandon(a *attempt) {
	if a.over {
		return
	}
	w.finish(a, queue.Result{AttemptRef: a.Ref(), Lost: true})
}

// end ends a leadership: the attempts that run are ended, and what is known is reported in by the next leader.
func (d *deliverer) end() {
	if d.over {
		return
	}
	d.over, d.asking, d.renews = true, nil, nil
	for _, a := range slices.Clone(d.l.n.w.running) {
		if a.deliverer == d {
			d.l.n.w.abandon(a)
		}
	}
}

// renew asks for longer leases.
func (n *node) renew() {
	if n.life == nil || n.life.deliverer == nil || n.life.deliverer.over || n.life.deliverer.renews != nil {
		return
	}
	k := n.life.deliverer
	refs := k.policy.Running().Running
	slices.SortFunc(refs, func(a, b queue.AttemptRef) int { return cmp.Compare(a.ID.Seq, b.ID.Seq) })
	if len(refs) == 0 {
		return
	}
	if c, err := n.life.ledger.Add(fsm.Renew.Code, fsm.Renew.Body(queue.Renewal{Running: refs})); err == nil {
		k.renews = &renewal{c, refs, n.w.now()}
	}
}

func (d *deliverer) renewed(n *renewal, r session.Result) {
	d.renews = nil
	if out, ok := r.Value.(queue.Renewed); ok && r.Err == nil && !d.over {
		d.policy.Renewed(n.refs, out.Lost, n.begun)
	}
}

// flushResults puts results into the log.
func (n *node) flushResults() {
	l := n.life
	if l == nil || l.reporting != nil || len(l.results) == 0 {
		return
	}
	// Attempts that were ended together have ended in no order.
	slices.SortStableFunc(l.results, func(a, b *attempt) int { return cmp.Compare(a.ID.Seq, b.ID.Seq) })
	h := &reporting{list: l.results, begun: n.w.now()}
	l.results = nil
	l.try(h)
}

func (l *life) try(h *reporting) {
	n := queue.Results{}
	for _, a := range h.list {
		n.Items = append(n.Items, a.result)
	}
	l.reporting = h
	c, err := l.ledger.Add(fsm.Finish.Code, fsm.Finish.Body(n))
	if err != nil {
		l.reported(err)
		return
	}
	h.call = c
}

// reported takes in whether results are in the log. If that is not known they are put in again, for as long as it has a
// meaning.
func (l *life) reported(err error) {
	h := l.reporting
	l.reporting = nil
	var said *fsm.Error
	if err != nil && !errors.As(err, &said) && l.n.w.now().Sub(h.list[0].finished) <= giveUp {
		l.results = append(h.list, l.results...)
		return
	}
	for _, a := range h.list {
		a.deliverer.policy.ResultsRecorded(a.Ref())
	}
}

// watch ends overdue attempts of a process, and a report of results that takes longer than reportTime.
func (l *life) watch() {
	if l.deliverer != nil {
		l.deliverer.policy.EndOverdue(l.n.w.now())
	}
	if h := l.reporting; h != nil && l.n.w.now().Sub(h.begun) >= reportTime {
		l.reported(l.ledger.Cancel(h.call).Err)
	}
}
