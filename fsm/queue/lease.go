package queue

import "github.com/trireme-dev/trireme/fsm/env"

// takeOverClaims releases the claims of other terms, at the first Advance of a new one. Exclusive claims (of what is
// delivered one at a time) stay until their lease and LeaseMargin have ended, because their sender may still run the
// attempt. They are released earlier when that is ruled out: by the sender itself (Result.Lost) or when another process
// has taken over its disk (ReleaseSession). Their leases are extended from now: a sender measures its lease by its own
// clock, and cluster time may have jumped forward between the terms.
func (s *Store) takeOverClaims(e *env.Env, now Sender) {
	if now == s.sender {
		return
	}
	s.sender = now
	s.abortClaims(e, "the attempt's outcome was lost with its leader", func(c *claim) bool {
		return !c.exclusive && (c.Epoch != now.Epoch || c.Term != now.Term)
	})
	s.ExtendLeases(e)
}

// HasForeignClaims reports whether claims of another term are to be taken over, which the next Advance does.
func (s *Store) HasForeignClaims(epoch, term uint64) bool {
	return s.places.leases.Len() > 0 && s.sender != Sender{Epoch: epoch, Term: term}
}

// ReleaseSession releases the claims of a session whose process has ended, so that its attempts have ended too.
func (s *Store) ReleaseSession(e *env.Env, session uint64) {
	s.abortClaims(e, "the attempt's outcome was lost with its process", func(c *claim) bool { return c.Session == session })
	s.trim(e)
}

// ReleaseAllClaims releases all claims, exclusive ones too, with why as the error of their attempts. A restore and an import
// call it: no sender of this cluster runs the attempts of a file.
func (s *Store) ReleaseAllClaims(e *env.Env, why string) {
	s.sender = Sender{}
	s.abortClaims(e, why, func(*claim) bool { return true })
	s.trim(e)
}

// abortClaims aborts the attempts whose claims match, with why as their error.
func (s *Store) abortClaims(e *env.Env, why string, match func(*claim) bool) {
	for _, seq := range s.claimsMatching(match) {
		s.abortAttempt(e, seq, why)
	}
}

// claimsMatching returns the messages whose claims match, in the order in which their leases end.
func (s *Store) claimsMatching(match func(*claim) bool) (list []uint64) {
	s.places.leases.All(func(t Stamp, _ struct{}) bool {
		if m, _ := s.messages.Get(t.Seq); match(m.claim) {
			list = append(list, t.Seq)
		}
		return true
	})
	return list
}

// ExtendLeases has all leases begin anew.
func (s *Store) ExtendLeases(e *env.Env) {
	for _, seq := range s.claimsMatching(func(*claim) bool { return true }) {
		s.extendLease(seq, e.Now+Lease)
	}
}

// extendLease extends the lease of a message's claim; it never shortens one.
func (s *Store) extendLease(seq uint64, lease int64) {
	old, _ := s.messages.Get(seq)
	if old.claim.lease >= lease {
		return
	}
	m := copyOf(old)
	s.places.remove(m)
	c := *m.claim
	c.lease = lease
	m.claim, m.at = &c, c.lease
	s.places.add(m)
	s.store(m)
}

// expireClaims aborts attempts whose leases have ended, at most limit, and returns how many.
func (s *Store) expireClaims(e *env.Env, limit int) (done int) {
	for ; done < limit; done++ {
		t, _, ok := s.places.leases.Min()
		if !ok || t.At > e.Now {
			break
		}
		s.abortAttempt(e, t.Seq, "the attempt's outcome was lost with its sender")
	}
	return done
}

// abortAttempt ends an attempt whose outcome will never be known. It counts as a retry, unless no retry is left: the last
// attempt is then run again, because a message fails only upon an answer or a timeout. A message whose cancellation was
// requested is canceled.
func (s *Store) abortAttempt(e *env.Env, seq uint64, why string) Disposition {
	old, _ := s.messages.Get(seq)
	m := copyOf(old)
	s.releaseClaim(m, e.Now)
	s.record(m, e.Now, Event{State: Failing, Attempt: m.attempts, detail: &eventDetail{failure: why}})
	if m.stopping {
		s.finishMessage(e, m, Canceled, nil, "")
		return Disposition{State: Canceled}
	}
	if m.retried < m.retries {
		m.retried++
	}
	s.retry(m, e.Now, e.Now, "")
	s.reportToRun(m, old, Retry, nil, why)
	return Disposition{State: m.state, Next: m.at}
}

// releaseClaim removes the claim of m. Afterwards m is in no index; the caller enters it into one.
func (s *Store) releaseClaim(m *Message, now int64) {
	s.places.remove(m)
	name := m.claim.host
	m.claim, m.place = nil, placeDone
	s.removeHostAttempt(name, now)
	if m.flow != 0 {
		s.countEnd(m, now)
	}
}

// Renew extends the leases of attempts that their sender still runs.
func (s *Store) Renew(e *env.Env, n Renewal) (Renewed, error) {
	out := Renewed{Lease: e.Now + Lease}
	for _, ref := range n.Running {
		old := s.current(ref)
		if old == nil || old.claim.Session != e.Session || old.claim.Epoch != s.sender.Epoch || old.claim.Term != s.sender.Term {
			out.Lost = append(out.Lost, ref)
			continue
		}
		s.extendLease(old.Seq, out.Lease)
	}
	return out, nil
}

// current returns the message of an attempt that is under way, nil if that attempt is over.
func (s *Store) current(ref AttemptRef) *Message {
	m := s.find(ref.ID)
	if m == nil || m.place != placeActive || uint64(m.attempts) != ref.Number {
		return nil
	}
	return m
}
