package queue

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/mutant"
)

// takeOver gives up the claims of other terms, at the first Advance of a new one. Those of what is delivered one at a
// time stay until their leases' end and margin, because their sender may still be running them, or until
// somebody knows that it isn't: the sender, see Result.Lost, or its successor, see Orphan. Their leases begin anew: a
// sender counts them by its own clock, and cluster time may have jumped forward between the terms, when the clock of the
// leader before was not trusted.
func (s *Store) takeOver(e *env.Env, now Sender) {
	if now == s.sender {
		return
	}
	s.sender = now
	s.giveUp(e, "the attempt's outcome was lost with its leader", func(c *claim) bool {
		return (!c.exclusive || mutant.Is(mutant.ClaimsOfOthers)) && (c.Epoch != now.Epoch || c.Term != now.Term)
	})
	for _, seq := range s.claimed(func(*claim) bool { return true }) {
		s.prolong(seq, e.Now+Lease)
	}
}

// Foreign reports whether claims of another term are to be taken over, which the next Advance does.
func (s *Store) Foreign(epoch, term uint64) bool {
	return s.leases.Len() > 0 && s.sender != Sender{Epoch: epoch, Term: term}
}

// Orphan gives up the claims of a session whose process is known to have ended: another process has its disk now. What
// it was sending was broken off by its end.
func (s *Store) Orphan(e *env.Env, session uint64) {
	s.giveUp(e, "the attempt's outcome was lost with its process", func(c *claim) bool { return c.Session == session })
	s.trim(e.Now)
}

// Abandon gives up all claims, those of what is delivered one at a time too: the store is that of a backup, and nobody
// who runs its attempts belongs to this cluster.
func (s *Store) Abandon(e *env.Env) {
	s.sender = Sender{}
	s.giveUp(e, "the attempt's outcome is not in the backup that was restored", func(*claim) bool { return true })
	s.trim(e.Now)
}

// giveUp ends the claims of a kind without an outcome.
func (s *Store) giveUp(e *env.Env, why string, of func(*claim) bool) {
	for _, seq := range s.claimed(of) {
		s.lose(e, seq, why)
	}
}

// claimed are the messages with claims of a kind, in the order in which these end.
func (s *Store) claimed(of func(*claim) bool) (list []uint64) {
	s.leases.All(func(t Stamp, _ struct{}) bool {
		if m, _ := s.messages.Get(t.Seq); of(m.claim) {
			list = append(list, t.Seq)
		}
		return true
	})
	return list
}

// prolong has the claim of a message last until lease, if it would end before.
func (s *Store) prolong(seq uint64, lease int64) {
	old, _ := s.messages.Get(seq)
	if old.claim.lease >= lease {
		return
	}
	m := edit(old)
	s.leave(m)
	c := *m.claim
	c.lease = lease
	m.claim, m.at = &c, c.lease
	s.index(m)
	s.store(m)
}

// expire gives up claims whose leases have ended.
func (s *Store) expire(e *env.Env, limit int) (done int) {
	for ; done < limit; done++ {
		t, _, ok := s.leases.Min()
		if !ok || t.At > e.Now {
			break
		}
		s.lose(e, t.Seq, "the attempt's outcome was lost with its sender")
	}
	return done
}

// lose ends an attempt of which the outcome will not be known. It counts as a retry, except for the last one that is
// allowed, which is run again: a message is never given up without an answer or a timeout. A message that was asked to
// stop is over then, and that of a run is forgotten.
func (s *Store) lose(e *env.Env, seq uint64, why string) Disposition {
	old, _ := s.messages.Get(seq)
	m := edit(old)
	s.release(m, e.Now)
	s.record(m, e.Now, Event{State: Failing, Attempt: m.attempts, Error: why})
	if m.stopping {
		s.finish(e, m, Canceled, nil)
		return Disposition{State: Canceled}
	}
	if m.retried >= m.retries && mutant.Is(mutant.LostIsLast) {
		s.fail(e, m, &Result{}, &Event{Response: &Response{}})
		return Disposition{State: Failed}
	}
	if m.retried < m.retries {
		m.retried++
	}
	s.retry(m, e.Now, e.Now)
	s.tellRun(m, Retry, nil, why)
	return Disposition{State: m.state, Next: m.at}
}

// release ends the claim of m, which afterwards stands in no place.
func (s *Store) release(m *Message, now int64) {
	s.leave(m)
	name := m.claim.host
	m.claim, m.place = nil, placeDone
	s.vacate(name, now)
	if m.flow != 0 {
		s.reopen(m.flow, now)
	}
}

// Renew prolongs the leases of attempts that their sender still runs.
func (s *Store) Renew(e *env.Env, n Renewal) (Renewed, error) {
	out := Renewed{Lease: e.Now + Lease}
	for _, ref := range n.Running {
		old := s.current(ref)
		if old == nil || old.claim.Session != e.Session || old.claim.Epoch != s.sender.Epoch || old.claim.Term != s.sender.Term {
			out.Lost = append(out.Lost, ref)
			continue
		}
		s.prolong(old.Seq, out.Lease)
	}
	return out, nil
}

// current is the message of an attempt that is under way, nil if that attempt is over.
func (s *Store) current(ref AttemptRef) *Message {
	m := s.find(ref.ID)
	if m == nil || m.place != placeActive || m.attempts != ref.Number && !mutant.Is(mutant.AnyAttempt) {
		return nil
	}
	return m
}
