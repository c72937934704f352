package queue

import "github.com/trireme-dev/trireme/fsm/env"

// Carry has an attempt of a message of a run continue: from now on the message delivers what run says, by the attempt that is under way.
// It has all its retries again. It returns the time at which the attempt began with what it has delivered so far, in unix milliseconds;
// false if the attempt is not under way, is to end because its run does, or is made to a host that the message was redirected from.
func (s *Store) Carry(e *env.Env, of AttemptRef, run []byte) (began int64, ok bool) {
	old := s.underWay(of)
	if old == nil {
		return 0, false
	}
	m := copyOf(old)
	c := m.envelope()
	if c.Host() != m.claim.host { // the run was moved, and continues there
		return 0, false
	}
	c.Run = run
	s.setEnvelope(m, c)
	n := *m.claim
	began, n.started = n.started, e.Now
	m.claim, m.retried = &n, 0
	s.store(m)
	return began, true
}

// RunOfAttempt returns what RunOf does while that attempt of the message is under way, otherwise nil.
func (s *Store) RunOfAttempt(of AttemptRef) []byte {
	m := s.underWay(of)
	if m == nil {
		return nil
	}
	return m.envelope().Run
}

// RunThatFails returns what RunOf does if a result is the last that a message of a run gets, and it was not delivered; otherwise nil.
func (s *Store) RunThatFails(n *Result) []byte {
	m := s.current(n.AttemptRef)
	if m == nil || !m.run || m.stopping || n.Lost || n.delivers() || !n.Response.final() && m.retried < m.retries {
		return nil
	}
	return m.envelope().Run
}

// underWay finds a message of a run by an attempt that is under way and not asked to end; nil if there is none.
func (s *Store) underWay(of AttemptRef) *Message {
	m := s.find(of.ID)
	if m == nil || !m.run || m.place != placeActive || m.stopping || uint64(m.attempts) != of.Number {
		return nil
	}
	return m
}
