package flow

import (
	"trireme/fsm/queue"
	"trireme/fsm/wire"
)

// Kind says what an entry of a run's log is.
type Kind uint8

// The kinds of entries.
const (
	// StepEntry: the payload, or a step's JSON as it was submitted.
	StepEntry Kind = iota
	// CallEntry: the request to a third party; Body is its body, Own what the message says.
	CallEntry
	// AnswerEntry: what the third party has answered; see Entry.Answer.
	AnswerEntry
	kinds
)

var kindNames = [kinds]string{"step", "toCallback", "fromCallback"}

// String is the kind's name on the wire: the call type.
func (k Kind) String() string { return kindNames[min(k, AnswerEntry)] }

// StepType says what a step does.
type StepType uint8

// The types of steps. UnknownType is one that this release does not know; its name stands in the entry's body.
const (
	UnknownType StepType = iota
	Initial
	RunStep
	CallStep
	SleepFor
	SleepUntil
	Wait
	WaitForWebhook
	Notify
	Invoke
	CreateWebhook
	stepTypes
)

var stepTypeNames = [stepTypes]string{"", "Initial", "Run", "Call", "SleepFor", "SleepUntil", "Wait", "WaitForWebhook", "Notify", "Invoke", "CreateWebhook"}

// String is the type's name on the wire, empty for one that is not known.
func (t StepType) String() string { return stepTypeNames[min(t, stepTypes-1)] }

// ParseStepType reads what String wrote; other names are UnknownType.
func ParseStepType(text string) StepType {
	for t, name := range stepTypeNames {
		if name == text {
			return StepType(t)
		}
	}
	return UnknownType
}

// Step is what the state machine knows of a step. A result has an ID, a plan has a Target, the step that it plans.
type Step struct {
	ID, Target uint32
	// Concurrent is the number of steps of the block, 1 for a sequential one.
	Concurrent uint32
	Type       StepType
	Name       string
}

// plan tells whether the step is announced, not done.
func (s *Step) plan() bool { return s.Target > 0 }

// Number is the step that is meant: its own, or the one that it plans.
func (s *Step) Number() uint32 {
	if s.plan() {
		return s.Target
	}
	return s.ID
}

// EntryState says what became of the delivery of an entry.
type EntryState uint8

// The states of an entry's delivery.
const (
	// Pending: it is due now, at Next, or under way.
	Pending EntryState = iota
	// Retrying: an attempt has failed, and another will be made at Next.
	Retrying
	// Delivered: the endpoint has answered 2xx, or the step that the delivery was to run is in the log.
	Delivered
	// Undeliverable: it has failed for good, and with it the run.
	Undeliverable
	// Dropped: the run was over before it was delivered.
	Dropped
	// Kept: it was submitted to a run that had failed: recorded, not delivered.
	Kept
	entryStates
)

// Open tells whether the entry is still to be delivered.
func (s EntryState) Open() bool { return s <= Retrying }

// Entry is an element of a run's log. A stored one is never modified: a change replaces it. Kind, Step, Body, Created and
// Own never change, and of an Answer only what becomes Told.
type Entry struct {
	// ID names the entry on the wire: it is the message by which it is delivered.
	ID   queue.ID
	Kind Kind
	Step
	// Created is in unix milliseconds, FirstAt the earliest delivery.
	Created, FirstAt int64
	// Since is when the step began to wait, and Deadline when that was to time out, if it is the result of a wait.
	Since, Deadline int64
	// Body is verbatim what was submitted. It must not be changed.
	Body []byte
	// Own is what the message said for itself beyond what the run says; nil if nothing.
	Own *queue.Options
	// URL is where it is delivered if that is not the run's own URL.
	URL string
	// Answer is the outcome of a call in an AnswerEntry.
	Answer *Answer

	State EntryState
	// Retried counts the retries so far, Retries those that are allowed.
	Retried, Retries uint32
	// Next is when the next attempt is due, in unix milliseconds, while the delivery is open.
	Next int64
	// Errors are the attempts that failed, the last maxErrors of them.
	Errors []Attempt
}

// Answer is what a third party has said to a call.
type Answer struct {
	// Call is the place in the log of the call.
	Call uint32
	queue.Response
	Error            string
	Retried, Retries uint32
	// Told: the result of the step is in the log, and holds the body, which is not kept here a second time.
	Told bool
}

// maxErrors is how many failed attempts an entry remembers, maxErrorBody how much of the body of each, in bytes.
const (
	maxErrors    = 20
	maxErrorBody = 64 << 10
)

func (s *Step) encode(w *wire.Writer) {
	w.Uvarint(uint64(s.ID))
	w.Uvarint(uint64(s.Target))
	w.Uvarint(uint64(s.Concurrent))
	w.Uvarint(uint64(s.Type))
	w.String(s.Name)
}

func decodeStep(r *wire.Reader) Step {
	return Step{uint32(r.Uvarint()), uint32(r.Uvarint()), uint32(r.Uvarint()), StepType(min(r.Uvarint(), uint64(stepTypes))), r.Alias()}
}

func (e *Entry) encode(w *wire.Writer) {
	encodeID(w, e.ID)
	w.Uvarint(uint64(e.Kind))
	e.Step.encode(w)
	w.Varint(e.Created)
	w.Varint(e.FirstAt - e.Created)
	w.Bytes(e.Body)
	w.Record(func(w *wire.Writer) {
		if e.Own != nil {
			e.Own.Encode(w)
		}
	})
	w.String(e.URL)
	w.Record(func(w *wire.Writer) {
		if e.Answer != nil {
			e.Answer.encode(w)
		}
	})
	w.Uvarint(uint64(e.State))
	w.Uvarint(uint64(e.Retried))
	w.Uvarint(uint64(e.Retries))
	w.Varint(e.Next)
	encodeAttempts(w, e.Errors)
	w.Varint(e.Since)
	w.Varint(e.Deadline)
}

// decodeEntry reads an entry; it aliases the input.
func decodeEntry(r *wire.Reader) *Entry {
	e := &Entry{ID: decodeID(r), Kind: Kind(min(r.Uvarint(), uint64(kinds))), Step: decodeStep(r), Created: r.Varint()}
	e.FirstAt, e.Body = e.Created+r.Varint(), some(r.Bytes())
	if in := r.Record(); in.Len() > 0 {
		e.Own = &queue.Options{}
		e.Own.Decode(in)
	}
	e.URL = r.Alias()
	if in := r.Record(); in.Len() > 0 {
		e.Answer = decodeAnswer(in)
	}
	e.State = EntryState(min(r.Uvarint(), uint64(entryStates)))
	e.Retried, e.Retries, e.Next, e.Errors = uint32(r.Uvarint()), uint32(r.Uvarint()), r.Varint(), decodeAttempts(r)
	e.Since, e.Deadline = r.Varint(), r.Varint()
	return e
}

func (a *Answer) encode(w *wire.Writer) {
	w.Uvarint(uint64(a.Call))
	w.Record(a.Response.Encode)
	w.String(a.Error)
	w.Uvarint(uint64(a.Retried))
	w.Uvarint(uint64(a.Retries))
	w.Bool(a.Told)
}

func decodeAnswer(r *wire.Reader) *Answer {
	a := &Answer{Call: uint32(r.Uvarint())}
	a.Response.Decode(r.Record())
	a.Error, a.Retried, a.Retries = r.Alias(), uint32(r.Uvarint()), uint32(r.Uvarint())
	if r.Len() > 0 { // records of old have no more
		a.Told = r.Bool()
	}
	return a
}
