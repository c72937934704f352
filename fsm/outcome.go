package fsm

import (
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Status says what became of a request in an entry.
type Status uint8

// The statuses.
const (
	// Applied: done now, for the first time; Value or Err is the result.
	Applied Status = iota
	// Repeated: applied by an earlier entry. A node that awaits it takes the outcome that its own
	// machine returned for that entry.
	Repeated
	// SessionExpired: the sequence is below the session's low-water mark, or the session is not
	// registered. The request was not applied and never will be under this identity.
	SessionExpired
	// Refused: the entry is of another term than its leader's. Nothing is recorded; the request may
	// be sent again.
	Refused
	// Deferred: the entry has done its part for the request's database. Nothing is recorded; the request may be sent
	// again.
	Deferred
)

// Outcome is the result of one request.
type Outcome struct {
	Session, Seq uint64
	Code         uint16
	Status       Status
	Value        any   // of the operation's result type, if Applied and Err is nil
	Err          error // an *Error: the operation changed nothing
	// Database is of whose share the request was, empty if no shares are kept, and Work what it has used of it, in steps.
	// Only the node that applied it knows them.
	Database string
	Work     int64
}

// EncodeOutcomes writes outcomes in the form that travels between nodes.
func EncodeOutcomes(w *wire.Writer, outcomes []Outcome) {
	w.Uvarint(uint64(len(outcomes)))
	for i := range outcomes {
		o := &outcomes[i]
		w.Uvarint(o.Seq)
		w.Uvarint(uint64(o.Code))
		w.Uvarint(uint64(o.Status))
		if o.Status != Applied {
			continue
		}
		var e *Error
		w.Bool(o.Err != nil)
		if o.Err == nil {
			w.Record(func(w *wire.Writer) { byCode[o.Code].encodeResult(w, o.Value) })
		} else if errors.As(o.Err, &e) {
			w.String(e.Code)
			w.String(e.Text)
		} else {
			w.String("internal")
			w.String(o.Err.Error())
		}
	}
}

// DecodeOutcomes reads what EncodeOutcomes wrote, for one session.
func DecodeOutcomes(r *wire.Reader, session uint64) ([]Outcome, error) {
	outcomes := make([]Outcome, r.Count(3))
	for i := range outcomes {
		o := &outcomes[i]
		o.Session, o.Seq, o.Code, o.Status = session, r.Uvarint(), uint16(r.Uvarint()), Status(r.Uvarint())
		if o.Status != Applied {
			continue
		}
		if r.Bool() {
			o.Err = &Error{Code: r.String(), Text: r.String()}
			continue
		}
		op, err := find(o.Code, MaxLevel)
		if err != nil {
			return nil, err
		}
		if o.Value, err = op.decodeResult(r.Record()); err != nil {
			return nil, fmt.Errorf("fsm: result of %s: %w", op.name(), err)
		}
	}
	return outcomes, r.Err()
}

// run applies one request that is due.
func (s *State) run(e *env.Env, q *Request) (o Outcome, fatal error) {
	o = Outcome{Session: q.Session, Seq: q.Seq, Code: q.Code}
	e.Session = q.Session
	s.progress.Request, s.progress.Database = uint64(e.Place())+1, 0
	op, err := find(q.Code, s.level)
	if err != nil {
		return o, err
	}
	var owner *session
	if q.Session != 0 {
		owner = s.sessions.find(q.Session)
		switch {
		case owner == nil || q.Seq < owner.lowWater || q.Seq-owner.base > maxWindow:
			o.Status = SessionExpired
			return o, nil
		case owner.has(q.Seq):
			o.Status = Repeated
			return o, nil
		}
	}
	if s.refusesAll(q) {
		if owner != nil {
			owner.add(q.Seq)
		}
		o.Err = ErrQuarantined
		return o, nil
	}
	payer := s.payer(q)
	if payer != nil {
		if o.Database = payer.name; payer.done(e.Index) >= EntryShare {
			o.Status = Deferred
			return o, nil
		}
	}
	if owner != nil {
		owner.add(q.Seq)
	}
	s.worked = 0
	o.Value, o.Err = op.run(s, e, q.Body)
	if payer != nil {
		o.Work = s.chargeShare(e, payer, q)
	}
	if o.Err == nil {
		return o, nil
	}
	o.Err = outcomeError(o.Err)
	if errors.Is(o.Err, ErrUnknownLevel) || errors.Is(o.Err, ErrFormerLevel) {
		return o, o.Err
	}
	return o, nil
}

// outcomeError converts an error to the form that outcomes carry to other nodes.
func outcomeError(err error) error {
	var refusal *queue.Error
	if errors.As(err, &refusal) {
		return &Error{Code: refusal.Code, Text: refusal.Text}
	}
	return err
}

// sweepPerEntry is the number of expired keys, and of kept replies, that every entry removes in addition to its
// requests, so that a steady load needs no entries for it.
const sweepPerEntry = 16

// begin moves the state's time to the entry's and takes in its marks.
func (s *State) begin(e *env.Env, n *Entry) {
	s.term = n.Term
	for _, m := range n.LowWaters {
		if c := s.sessions.find(m.Session); c != nil {
			c.raise(m.Below)
		}
	}
	s.expireStage(e)
	s.expireTokens(e.Now)
	s.sweep(e, sweepPerEntry)
	s.retries.Sweep(e.Now, sweepPerEntry)
	s.sweepMessages(e, sweepPerEntry)
	s.sweepWorkflows(e, sweepPerEntry)
}
