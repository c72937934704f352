package workflow

import (
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
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

// The types of steps. UnknownType is one that this release does not know; its name is in the entry's body.
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

// Step describes a step to the state machine. A result has an ID, a plan has a Target, the step that it plans.
type Step struct {
	ID, Target uint32
	// Concurrent is the number of steps of the block, 1 for a sequential one.
	Concurrent uint32
	Type       StepType
	Name       string
}

// plan reports whether the step is announced, not done.
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
	// Unfinished: the run was cancelled while the step waited. The body says for what; there is no result.
	Unfinished
	// Held: it is delivered when its run is held no more.
	Held
	entryStates
)

// Open reports whether the entry is still to be delivered.
func (s EntryState) Open() bool { return s <= Retrying || s == Held }

// Entry is an element of a run's log. A stored one is never modified: a change replaces it. Kind, Step, Body, Created and
// Own never change, and of an Answer only what becomes Superseded.
type Entry struct {
	// ID names the entry on the wire: it is the message by which it is delivered.
	ID   queue.ID
	Kind Kind
	Step
	// Created is in unix milliseconds, FirstAt the earliest delivery.
	Created, FirstAt int64
	// Since is the time at which the step began to wait, and Deadline its timeout, if it is the result of a wait.
	Since, Deadline int64
	// Body is the submitted body, verbatim.
	Body payload.Payload
	// Own holds the message's own options in addition to the run's; nil if it has none.
	Own *queue.Options
	// URL is the destination if it is not the run's own URL.
	URL string
	// Answer is the outcome of a call in an AnswerEntry.
	Answer *Answer

	State EntryState
	// Retried counts the retries so far, Retries those that are allowed.
	Retried, Retries uint32
	// Next is the time at which the next attempt is due, in unix milliseconds, while the delivery is open.
	Next int64
	// Errors are the attempts that failed, the last maxErrors of them.
	Errors []Attempt
	// Reserved is the memory that counts already for the answer to a call, in bytes.
	Reserved int64
	// Claimed is the time at which the last attempt that is over began, in unix milliseconds; 0 if that is not known.
	Claimed int64
}

// Answer is the answer of a third party to a call.
type Answer struct {
	// Call is the place in the log of the call.
	Call uint32
	queue.Response
	Error            string
	Retried, Retries uint32
	// Superseded: the result of the step is in the log, and holds the body, which is not kept here a second time.
	Superseded bool
}

// maxErrors limits the failed attempts that an entry remembers, maxErrorBody the body of each, in bytes.
const (
	maxErrors    = 20
	maxErrorBody = 64 << 10
)

// Fields codes the value in its wire format.
func (s *Step) Fields(c *wire.Codec) {
	wire.Uint(c, &s.ID)
	wire.Uint(c, &s.Target)
	wire.Uint(c, &s.Concurrent)
	wire.Enum(c, &s.Type, stepTypes)
	c.Text(&s.Name)
}

// Fields codes the value in its wire format.
func (e *Entry) Fields(c *wire.Codec) {
	e.ID.Fields(c)
	wire.Enum(c, &e.Kind, kinds)
	e.Step.Fields(c)
	c.Varint(&e.Created)
	delay := e.FirstAt - e.Created
	if c.Varint(&delay); c.Reading() {
		e.FirstAt = e.Created + delay
	}
	e.Body.Field(c)
	wire.Optional(c, &e.Own)
	c.Text(&e.URL)
	wire.Optional(c, &e.Answer)
	wire.Enum(c, &e.State, entryStates)
	wire.Uint(c, &e.Retried)
	wire.Uint(c, &e.Retries)
	c.Varint(&e.Next)
	wire.List(c, &e.Errors, 3)
	c.Varint(&e.Since)
	c.Varint(&e.Deadline)
	timed := e.hasClaims()
	if c.More(e.Reserved != 0 || timed) {
		c.Varint(&e.Reserved)
	}
	if c.More(timed) { // from the level env.Files on
		c.Varint(&e.Claimed)
		for i := range e.Errors {
			c.Varint(&e.Errors[i].Claimed)
		}
	}
}

// hasClaims reports whether it is known when an attempt began.
func (e *Entry) hasClaims() bool {
	if e.Claimed != 0 {
		return true
	}
	for i := range e.Errors {
		if e.Errors[i].Claimed != 0 {
			return true
		}
	}
	return false
}

// Fields codes the value in its wire format.
func (a *Answer) Fields(c *wire.Codec) {
	wire.Uint(c, &a.Call)
	c.Record(a.Response.Fields)
	c.Text(&a.Error)
	wire.Uint(c, &a.Retried)
	wire.Uint(c, &a.Retries)
	c.Bool(&a.Superseded)
}
