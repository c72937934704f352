package queue

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/mutant"
)

// Finish tells how attempts went. A result is judged by the number of its attempt alone, whoever sends it: one that is
// not the current attempt changes nothing.
func (s *Store) Finish(e *env.Env, n Results) (Dispositions, error) {
	out := Dispositions{Items: make([]Disposition, len(n.Items))}
	for i := range n.Items {
		out.Items[i] = s.settle(e, &n.Items[i])
	}
	s.trim(e.Now)
	return out, nil
}

// settle ends one attempt and decides what its message does next.
func (s *Store) settle(e *env.Env, n *Result) Disposition {
	old := s.current(n.AttemptRef)
	if old == nil {
		return Disposition{Stale: true}
	}
	if n.Lost {
		f := s.lose(e, old.Seq, "the attempt's outcome was lost: its sender had to end it")
		if mutant.Is(mutant.LostOfOver) {
			f.State = s.find(n.ID).state
		}
		return f
	}
	m := edit(old)
	s.release(m, e.Now)
	if n.Response.ok() {
		s.call(e, m, n, nil)
		s.heard(m, &n.Response)
		s.finish(e, m, Delivered, nil)
		if !old.stopping {
			s.tellRun(m, Delivered, &n.Response, "")
		}
		return Disposition{State: Delivered}
	}
	v := Event{State: Failing, Attempt: m.attempts, Response: n.Response.clone(), Error: string([]byte(n.Error))}
	s.record(m, e.Now, v)
	s.call(e, m, n, nil)
	switch {
	case m.stopping:
		s.finish(e, m, Canceled, nil)
	case n.Response.final() || m.retried >= m.retries:
		s.fail(e, m, n, &v)
	default:
		m.retried++
		s.retry(m, addTime(e.Now, min(max(n.RetryDelay, 0), MaxRetryDelay)), e.Now)
		s.tellRun(m, Retry, &n.Response, n.Error)
		return Disposition{State: Retry, Next: m.at}
	}
	return Disposition{State: m.state}
}

// retry has m, which stands in no place, attempted again. In a queue it keeps its place, and the others wait; while the
// queue is paused it gives its slot back.
func (s *Store) retry(m *Message, at, now int64) {
	s.record(m, now, Event{State: Retry, Next: at})
	p := placeDue
	if q, ok := s.queues.Get(m.queue); ok && q.Paused {
		s.slots.Delete(member{m.queue, m.Seq})
		p = placeBacklog
	}
	s.enter(m, p, at, now)
	s.store(m)
}

// fail makes a dead letter of m.
func (s *Store) fail(e *env.Env, m *Message, n *Result, last *Event) {
	if m.run {
		s.finish(e, m, Failed, nil)
		s.tellRun(m, Failed, &n.Response, n.Error)
		return
	}
	d := &Dead{Stamp: Stamp{e.Now, m.Seq}, Response: *last.Response, Error: last.Error}
	if m.hasFailure {
		d.Callback = CallbackInfo{State: CallbackInProgress, Message: s.call(e, m, n, d)}
	}
	if mutant.Is(mutant.FailedVanishes) {
		s.finish(e, m, Failed, nil)
		return
	}
	s.dead.Set(d.Stamp, d)
	s.buried += d.size()
	s.finish(e, m, Failed, d)
}

// finish ends the life of m, which stands in no place.
func (s *Store) finish(e *env.Env, m *Message, state State, d *Dead) {
	s.record(m, e.Now, Event{State: state})
	m.place, m.at, m.since = placeDone, e.Now, e.Now
	s.live -= m.size()
	switch {
	case m.run:
		s.messages.Delete(m.Seq)
	case d != nil:
		s.buried += m.size()
		s.store(m)
	default:
		s.past += m.size()
		s.store(m)
	}
	if m.flow != 0 {
		s.part(m, e.Now)
	}
	if m.queue != 0 {
		s.slots.Delete(member{m.queue, m.Seq})
		if m.open > 0 && state != Canceled {
			s.holding.Set(member{m.queue, m.Seq}, struct{}{})
		}
		s.admit(m.queue, e.Now)
	}
	s.tell(e, m)
}

// tell lets those know that wait for the end of m: the schedule that made it, and the message of which it is a callback.
func (s *Store) tell(e *env.Env, m *Message) {
	if !m.scheduled && !m.isCallback {
		return
	}
	c := m.Content()
	if m.scheduled {
		s.produced(c.Schedule, m)
	}
	if m.isCallback {
		s.called(m, c.Source, e.Now)
	}
}
