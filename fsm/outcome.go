package fsm

import (
	"errors"
	"fmt"

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
