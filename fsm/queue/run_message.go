package queue

import "github.com/trireme-dev/trireme/fsm/env"

// Messages of workflow runs are delivered like any other, but package workflow keeps their history: they have no events,
// callbacks or dead letters here, are forgotten when they are done, and only package workflow can cancel them. What
// happens to them is passed on as delivery reports, in the same apply.

// DeliveryReport says what has happened to a message of a run: an attempt has failed and another follows (Retry), or the
// message was Delivered or has Failed for good.
type DeliveryReport struct {
	ID ID
	// Run is the Run of the message's Content.
	Run   []byte
	State State
	// Retried counts the retries so far, the one to come included; Retries is the number allowed.
	Retried, Retries int
	// Next is the time at which the next attempt is due, in unix milliseconds, on Retry.
	Next int64
	// Response is the answer to the attempt; Status 0 if there was none, for the reason that Error gives. They alias the
	// entry.
	Response Response
	Error    string
	// Claimed is the time at which the attempt was claimed, in unix milliseconds.
	Claimed int64
}

// TakeReports returns the reports since its last call and clears them. Every apply that ends attempts has to call it.
func (s *Store) TakeReports() []DeliveryReport {
	list := s.reports
	s.reports = nil
	return list
}

// reportToRun adds a report on an attempt of m, if that is of a run. old is the message as it was during the attempt.
func (s *Store) reportToRun(m, old *Message, state State, p *Response, why string) {
	if !m.run {
		return
	}
	t := DeliveryReport{ID: m.ID, Run: m.envelope().Run, State: state, Retried: int(m.retried), Retries: int(m.retries), Error: why, Claimed: old.claim.started}
	if state == Retry {
		t.Next = m.at
	}
	if p != nil {
		t.Response = *p
	}
	s.reports = append(s.reports, t)
}

// Dispatch makes a message of a run: c.Run says what it delivers.
func (s *Store) Dispatch(e *env.Env, c *Content) ID { return s.create(e, c, nil).ID }

// NewID allocates a message id without creating a message.
func (s *Store) NewID(e *env.Env) ID { return ID{s.next(), e.Uint64()} }

// Drop cancels a message of a run, and reports whether an attempt of it is under way: that goes on, without a report.
func (s *Store) Drop(e *env.Env, id ID) (active bool) {
	m := s.find(id)
	if m == nil || !m.run {
		return false
	}
	active = m.place == placeActive
	s.cancel(e, id.Seq)
	return active
}

// Withdraw cancels a message of a run unless an attempt of it is under way, and reports whether it did.
func (s *Store) Withdraw(e *env.Env, id ID) bool {
	m := s.find(id)
	if m == nil || !m.run || m.place == placeActive {
		return false
	}
	s.cancel(e, id.Seq)
	return true
}

// Redirect has a message of a run go to another URL from its next attempt on. An attempt that is under way goes on.
func (s *Store) Redirect(e *env.Env, id ID, url string) {
	old := s.find(id)
	if old == nil || !old.run || old.place == placeDone {
		return
	}
	c := old.envelope()
	if c.URL == url {
		return
	}
	m := copyOf(old)
	parked := m.place == placeParked
	if parked { // it waits for a host that it does not need any more
		s.dequeue(m, e.Now)
	}
	c.URL = url
	s.setEnvelope(m, c)
	if parked {
		s.enter(m, placeDue, e.Now, e.Now)
	}
	s.store(m)
}

// setEnvelope replaces the envelope of m, a live message of a run that is about to be stored.
func (s *Store) setEnvelope(m *Message, c *Content) {
	s.memory.live -= m.size()
	s.memory.uncounted -= m.uncounted()
	m.setContent(c, m.body, s.keeper)
	s.memory.live += m.size()
	s.memory.uncounted += m.uncounted()
}

// RunOf is the Run of a message's Content; nil if there is no such message, or it is of no run.
func (s *Store) RunOf(id ID) []byte {
	m := s.find(id)
	if m == nil || !m.run {
		return nil
	}
	return m.envelope().Run
}

// Attempted reports whether an attempt of a message has been claimed, or it is not there any more.
func (s *Store) Attempted(id ID) bool {
	m := s.find(id)
	return m == nil || m.attempts > 0
}

// CheckPublication refuses what the limits don't allow to be published.
func (s *Store) CheckPublication(p *Publication, now int64) *Error {
	return s.check(p, &p.Options, now)
}

// asRunStart makes the publication that starts a run one that messages are not taken for.
func asRunStart(p Publication) *Publication {
	p.Run = []byte{0}
	return &p
}

// StartedRun is the message of the run that was started under the deduplication id or content of a publication within the
// window; false if there is none.
func (s *Store) StartedRun(p Publication, now int64) (ID, bool) {
	key, once := dedupOf(asRunStart(p), &p.Options, target{url: p.URL}, nil)
	d, found := s.dedups.published(key, now)
	return d.id, once && found
}

// RememberRun keeps the message of a run that was started for as long as its deduplication id or content counts.
func (s *Store) RememberRun(p Publication, id ID, now int64) {
	if key, once := dedupOf(asRunStart(p), &p.Options, target{url: p.URL}, nil); once {
		s.remember(key, dedup{id: id}, now)
	}
}

// Quote appends a JSON string, as JSON.stringify writes it.
func Quote(b []byte, text string) []byte { return quote(b, text) }

// HeaderJSON appends a header as a JSON object of arrays, by canonical names.
func HeaderJSON(b []byte, header []Field) []byte {
	j := object{b: b}
	j.fields(header)
	return j.b
}
