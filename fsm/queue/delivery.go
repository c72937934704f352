package queue

import "github.com/trireme-dev/trireme/fsm/env"

// Demand states the claims and ticks that a leader asks Advance for.
type Demand struct {
	// Term and Epoch are those of the leader that asks.
	Epoch, Term uint64
	// Claims is the most attempts to claim: the number of free senders. At most MaxClaims.
	Claims int
	// HostShare is the most attempts under way to one host (0 = unlimited).
	HostShare int
	// KeepSendersFree reserves senders for idle hosts: one host may have no more attempts under way than there are free
	// senders, so that slow hosts can't take all of them.
	KeepSendersFree bool
	// Hosts are limits below HostShare, of hosts that answer slowly or refuse.
	Hosts []HostLimit
	// Ticks lists the ticks of the schedules that are due.
	Ticks []Tick
	// MaxTick is the most work of one tick in steps, 0 for no limit. Paced says that other databases wait while ticks make messages.
	MaxTick int64
	Paced   bool
}

// maxWork is the most messages that one Advance moves, claimed or not: what the lock is held for.
const maxWork = 4 * MaxClaims

// Advance releases claims of other terms and claims whose leases have ended, fires schedules, and claims attempts of
// what is due, as many as are asked for. The caller must send every one of them.
func (s *Store) Advance(e *env.Env, d Demand) []Attempt {
	s.takeOverClaims(e, Sender{Epoch: d.Epoch, Term: d.Term})
	work := s.expireClaims(e, maxWork)
	s.fireTicks(e, &d)
	s.makeRoom(eventCost * int64(min(d.Claims, MaxClaims)))
	a := advance{s: s, e: e, d: d, free: min(d.Claims, MaxClaims), work: maxWork - work}
	a.setHostLimits(d.Hosts)
	if n := s.settings.GlobalParallelism; n > 0 {
		a.free = min(a.free, n-s.places.leases.Len())
	}
	for a.free > 0 && a.work > 0 && a.step() {
		a.work--
	}
	s.trim(e)
	return a.claimed
}

// partsPerMove is the number of publications of a batch that are put together with the work of moving a message.
const partsPerMove = 16

// advance is one Advance under way.
type advance struct {
	s          *Store
	e          *env.Env
	d          Demand
	free, work int
	claimed    []Attempt
	// limits are the limits of hosts, by name.
	limits map[string]int
}

// setHostLimits sets limits of hosts, and unparks as many of their messages as a raised limit admits.
func (a *advance) setHostLimits(hosts []HostLimit) {
	if len(hosts) == 0 {
		return
	}
	a.limits = make(map[string]int, len(hosts))
	for _, l := range hosts {
		a.limits[l.Host] = max(l.Most, 1)
		h, _ := a.s.hosts.Get(l.Host)
		for n := 0; h != nil && n < l.Most-h.active && a.s.unpark(l.Host, a.e.Now); n++ {
		}
	}
}

// hostIsFull reports whether a host has as many attempts under way as it may have now.
func (a *advance) hostIsFull(name string) bool {
	h, _ := a.s.hosts.Get(name)
	if h == nil || h.active == 0 {
		return false
	}
	if a.d.KeepSendersFree && h.active >= a.d.Claims-len(a.claimed) {
		return true
	}
	if most, spared := a.limits[name]; spared && h.active >= most {
		return true
	}
	return a.d.HostShare > 0 && h.active >= a.d.HostShare
}

// step moves the message, or the flow-control key, whose turn it is: those that have been due for longest come first, and a priority
// counts as PriorityStep for each level.
func (a *advance) step() bool {
	s, now := a.s, a.e.Now
	at, ok := s.firstDue(now)
	opening, no, open := s.flows.openings.Min()
	open = open && opening.At <= now
	switch {
	case open && (!ok || opening.At <= at.At):
		turn, _ := s.nextIn(s.places.waiting, no)
		a.tryClaim(turn.seq)
	case ok:
		m, _ := s.messages.Get(at.Seq)
		until, held := m.heldBack(a.e.Time)
		if m.flow == 0 && !held {
			a.tryClaim(at.Seq)
			break
		}
		m = copyOf(m)
		s.places.remove(m)
		if held {
			m.at = until
			s.places.add(m)
			s.store(m)
			break
		}
		s.enter(m, placeWaiting, m.at, now)
		s.store(m)
		if !s.updateOpening(m.flow, now) && s.places.parked.Len() > 0 {
			s.unpark(m.envelope().Host(), now) // m has come for a sender that it can't use now
		}
	default:
		return false
	}
	return true
}

// heldBack reports whether wall time has not come to the time before which the first attempt of m must not begin, and
// returns the cluster time at which to look again. RunNow puts a message before that time.
func (m *Message) heldBack(now env.Time) (until int64, held bool) {
	if now.Wall == now.Now || m.attempts > 0 {
		return 0, false
	}
	c := m.envelope()
	if c.Given&GivenNotBefore == 0 || c.NotBefore <= now.Wall || m.at < c.NotBefore {
		return 0, false
	}
	return now.Reaches(c.NotBefore), true
}

// tryClaim claims a message, or parks it if its host is full.
func (a *advance) tryClaim(seq uint64) {
	s, now := a.s, a.e.Now
	old, _ := s.messages.Get(seq)
	m, c := copyOf(old), old.envelope()
	host := c.Host()
	s.places.remove(m)
	if a.hostIsFull(host) {
		waited := m.place == placeWaiting
		s.park(m, host, now)
		s.store(m)
		if waited {
			s.updateOpening(m.flow, now)
		}
		return
	}
	a.claim(m, c, host)
}

// claim claims the next attempt of m, which is in no index: it numbers it and gives it a lease.
func (a *advance) claim(m *Message, c *Content, host string) {
	s, now := a.s, a.e.Now
	if m.attempts == 0 && m.calls&gathers != 0 {
		publications := 0
		c, publications = s.beginGathered(m, c)
		a.work -= publications / partsPerMove
	}
	m.attempts++
	m.claim = &claim{
		Sender: Sender{a.d.Epoch, a.d.Term, a.e.Session}, started: now, lease: now + Lease, exclusive: s.exclusive(m), host: host,
	}
	s.record(m, now, Event{State: Active, Attempt: m.attempts})
	s.enter(m, placeActive, m.claim.lease, now)
	s.addHostAttempt(host)
	if m.flow != 0 {
		s.countClaim(m.flow, c, now)
	}
	s.store(m)
	a.free--
	a.claimed = append(a.claimed, Attempt{
		ID: m.ID, Number: uint64(m.attempts), Retried: int(m.retried), Claimed: now, Lease: m.claim.lease, Timeout: s.timeout(c), Content: c, body: m.apart(),
	})
}

// timeout is the longest that an attempt of c may take, in milliseconds.
func (s *Store) timeout(c *Content) int64 {
	limit := s.settings.MaxTimeout
	if c.Timeout > 0 && (limit <= 0 || c.Timeout < limit) {
		return c.Timeout
	}
	if limit <= 0 {
		return DefaultSettings().MaxTimeout
	}
	return limit
}

// exclusive reports whether m belongs to what is delivered one at a time.
func (s *Store) exclusive(m *Message) bool {
	if q, ok := s.queues.byNo.Get(m.queue); ok && q.Parallelism == 1 {
		return true
	}
	f, ok := s.flows.byNo.Get(m.flow)
	return ok && f.Parallelism == 1
}

// Finish records the results of attempts. A result counts if it names the current attempt of its message, whoever sends
// it; any other changes nothing.
func (s *Store) Finish(e *env.Env, n Results) (Dispositions, error) {
	out := Dispositions{Items: make([]Disposition, len(n.Items))}
	for i := range n.Items {
		out.Items[i] = s.finishAttempt(e, &n.Items[i])
	}
	s.trim(e)
	return out, nil
}

// CommitsAs returns the user with whose rights the commands of an answer run, empty if they do not count: the answer is none that
// delivers, the attempt is not the current one of its message, or the message has not asked for it. Steps of runs bring theirs by
// themselves. hops is that of the message.
func (s *Store) CommitsAs(n *Result) (user string, hops uint8) {
	m := s.current(n.AttemptRef)
	if m == nil || m.run || n.Lost || !n.delivers() {
		return "", 0
	}
	c := m.envelope()
	return c.CommitAs, c.Hops
}

// finishAttempt ends one attempt and decides what its message does next.
func (s *Store) finishAttempt(e *env.Env, n *Result) Disposition {
	old := s.current(n.AttemptRef)
	if old == nil {
		return Disposition{Stale: true}
	}
	if n.Lost {
		return s.abortAttempt(e, old.Seq, "the attempt's outcome was lost: its sender had to end it")
	}
	s.makeRoom(resultGrowth(n))
	m := copyOf(old)
	s.releaseClaim(m, e.Now)
	if n.delivers() {
		_, lacks := s.publishCallback(e, m, n, nil, true)
		s.storeCallbackResponse(m, &n.Response)
		s.finishMessage(e, m, Delivered, nil, lacks)
		if !old.stopping {
			s.reportToRun(m, old, Delivered, &n.Response, "")
		}
		return Disposition{State: Delivered}
	}
	told := &eventDetail{response: s.answer(&n.Response), failure: string([]byte(n.Error))}
	ends := n.Response.final() || m.retried >= m.retries
	s.record(m, e.Now, Event{State: Failing, Attempt: m.attempts, detail: told})
	var q *Queue
	var f *FlowKey
	if ends {
		q, f = s.pausable(m)
	}
	_, lacks := s.publishCallback(e, m, n, nil, m.stopping || ends && q == nil && f == nil)
	switch {
	case m.stopping:
		s.finishMessage(e, m, Canceled, nil, lacks)
	case q != nil || f != nil:
		s.pause(e, m, n, q, f, lacks)
	case ends && m.run:
		s.finishMessage(e, m, Failed, nil, "")
		s.reportToRun(m, old, Failed, &n.Response, n.Error)
	case ends:
		s.fail(e, m, n, told, lacks)
	default:
		m.retried++
		s.retry(m, addTime(e.Now, min(max(n.RetryDelay, 0), MaxRetryDelay)), e.Now, lacks)
		s.reportToRun(m, old, Retry, &n.Response, n.Error)
		return Disposition{State: Retry, Next: m.at}
	}
	return Disposition{State: m.state}
}

// retry schedules the next attempt of m, which is in no index. A message of a queue keeps its slot, so that the order
// holds, unless the queue is paused. lacks names the parts that a callback had to leave out.
func (s *Store) retry(m *Message, at, now int64, lacks string) {
	s.record(m, now, Event{State: Retry, detail: &eventDetail{next: at, failure: lacks}})
	p := placeDue
	if q, ok := s.queues.byNo.Get(m.queue); ok && q.Paused {
		s.places.slots.Delete(member{m.queue, m.Seq})
		p = placeBacklog
	}
	s.enter(m, p, at, now)
	s.store(m)
}

// fail turns m, which is not of a run, into a dead letter, which tells what a callback had to leave out.
func (s *Store) fail(e *env.Env, m *Message, n *Result, last *eventDetail, lacks string) {
	d := &Dead{Stamp: Stamp{e.Now, m.Seq}, Response: *last.response, Error: withLacks(last.failure, lacks)}
	if m.calls&callsFailure != 0 {
		id, lacks := s.publishCallback(e, m, n, d, true)
		d.Callback, d.Error = CallbackInfo{State: CallbackInProgress, Message: id}, withLacks(d.Error, lacks)
	}
	s.setDead(nil, d)
	s.finishMessage(e, m, Failed, d, "")
}

// answer is a response as events and dead letters keep it: without body and header if there is no room for them.
func (s *Store) answer(p *Response) *Response {
	if !s.fits(responseGrowth(p)) {
		return &Response{Status: p.Status}
	}
	kept := p.clone()
	kept.Keep(s.keeper)
	return kept
}

// responseGrowth is the logical size of a response that is kept.
func responseGrowth(p *Response) int64 { return p.size() - p.uncounted() }

// resultGrowth is the growth by the result of an attempt without a callback: its events, a dead letter, and the answer in them.
func resultGrowth(n *Result) int64 {
	return 3*eventCost + deadCost + 2*responseGrowth(&n.Response) + 2*int64(len(n.Error))
}

// withLacks appends the parts that a callback lacks to an error.
func withLacks(failure, lacks string) string {
	if failure == "" || lacks == "" {
		return failure + lacks
	}
	return failure + "; " + lacks
}

// finishMessage moves m, which is in no index, to its final state. lacks names the parts that its callback had to leave out.
func (s *Store) finishMessage(e *env.Env, m *Message, state State, d *Dead, lacks string) {
	v := Event{State: state}
	s.leaveShares(m, e.Now)
	if lacks != "" {
		v.detail = &eventDetail{failure: lacks}
	}
	s.record(m, e.Now, v)
	m.place, m.at, m.since = placeDone, e.Now, e.Now
	if m.calls&gathers != 0 {
		s.stopGathering(m)
	}
	s.memory.live -= m.size() + m.reserved()
	switch {
	case m.run:
		s.messages.Delete(m.Seq)
		s.memory.uncounted -= m.uncounted()
		s.release(m)
	case d != nil:
		s.memory.dead += m.size()
		s.store(m)
	default:
		s.memory.done += m.size()
		s.store(m)
	}
	if m.flow != 0 {
		s.leaveFlowKey(m, e.Now)
	}
	if m.queue != 0 {
		s.places.slots.Delete(member{m.queue, m.Seq})
		if m.open > 0 && state != Canceled {
			s.places.holding.Set(member{m.queue, m.Seq}, struct{}{})
		}
		s.admit(m.queue, e.Now)
		s.leaveSingleton(m)
	}
	s.notifyDependents(e, m)
}

// notifyDependents passes the end of m on to the schedule that published it and to the message whose callback it is.
func (s *Store) notifyDependents(e *env.Env, m *Message) {
	if !m.scheduled && !m.isCallback {
		return
	}
	c := m.envelope()
	if m.scheduled {
		s.produced(c.Schedule, m)
	}
	if m.isCallback {
		s.callbackFinished(m, c.Source, e.Now)
	}
}
