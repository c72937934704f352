package queue

import "github.com/trireme-dev/trireme/fsm/env"

// Finish records the results of attempts. A result counts if it names the current attempt of its message, whoever sends
// it; any other changes nothing.
func (s *Store) Finish(e *env.Env, n Results) (Dispositions, error) {
	out := Dispositions{Items: make([]Disposition, len(n.Items))}
	for i := range n.Items {
		out.Items[i] = s.finishAttempt(e, &n.Items[i])
	}
	s.trim(e.Now)
	return out, nil
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
	if n.Response.ok() {
		_, lacks := s.publishCallback(e, m, n, nil, true)
		s.storeCallbackResponse(m, &n.Response)
		s.finishMessage(e, m, Delivered, nil, lacks)
		if !old.stopping {
			s.reportToRun(m, Delivered, &n.Response, "")
		}
		return Disposition{State: Delivered}
	}
	told := &eventDetail{response: s.answer(&n.Response), failure: string([]byte(n.Error))}
	ends := n.Response.final() || m.retried >= m.retries
	s.record(m, e.Now, Event{State: Failing, Attempt: m.attempts, detail: told})
	_, lacks := s.publishCallback(e, m, n, nil, m.stopping || ends)
	switch {
	case m.stopping:
		s.finishMessage(e, m, Canceled, nil, lacks)
	case ends:
		s.fail(e, m, n, told, lacks)
	default:
		m.retried++
		s.retry(m, addTime(e.Now, min(max(n.RetryDelay, 0), MaxRetryDelay)), e.Now, lacks)
		s.reportToRun(m, Retry, &n.Response, n.Error)
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

// fail turns m into a dead letter, which tells what a callback had to leave out.
func (s *Store) fail(e *env.Env, m *Message, n *Result, last *eventDetail, lacks string) {
	if m.run {
		s.finishMessage(e, m, Failed, nil, "")
		s.reportToRun(m, Failed, &n.Response, n.Error)
		return
	}
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
	if lacks != "" {
		v.detail = &eventDetail{failure: lacks}
	}
	s.record(m, e.Now, v)
	m.place, m.at, m.since = placeDone, e.Now, e.Now
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
