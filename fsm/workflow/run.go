package workflow

import (
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// RunState says how far a run is. A final state is never left.
type RunState uint8

// The states of a run.
const (
	Started RunState = iota
	Succeeded
	Failed
	Canceled
	runStates
)

var runStateNames = [runStates]string{"RUN_STARTED", "RUN_SUCCESS", "RUN_FAILED", "RUN_CANCELED"}

// String is the state's name on the wire.
func (s RunState) String() string {
	if s >= runStates {
		return "UNKNOWN"
	}
	return runStateNames[s]
}

// ParseRunState reads what String wrote, and the specification's spelling of canceled.
func ParseRunState(text string) (RunState, bool) {
	for s, name := range runStateNames {
		if name == text {
			return RunState(s), true
		}
	}
	return Canceled, text == "RUN_CANCELLED"
}

// Features is the set of what a client asks of the server.
type Features uint8

// The features.
const (
	// LazyFetch: a body that is too large may be left out; the endpoint fetches the log.
	LazyFetch Features = 1 << iota
	// InitialBody: failure callbacks carry the payload of the run as their source body.
	InitialBody
	// NoDelete: a third party that fails does not end the run.
	NoDelete
	// DetectTrigger: the first answer has to be that of a workflow.
	DetectTrigger
	// TriggerOnConfig: messages of a run carry no configuration but the run's own.
	TriggerOnConfig
	// Singleton: a start with the id of a run that lives is refused by ErrExists; without it the answer says that it was
	// deduplicated, which older SDKs take for a success.
	Singleton
	// Inline: its endpoint may record several steps by one delivery, see inline.go.
	Inline
)

// Origin says who has started a run, which decides what its first answer has to look like.
type Origin uint8

// The origins.
const (
	// FromSDK: a message with workflow headers.
	FromSDK Origin = iota
	// FromREST: /v2/trigger or a command. The first answer must name its SDK's release.
	FromREST
	// FromUnknown: /v2/trigger that asks for the handshake: the endpoint starts the run once more, by its SDK.
	FromUnknown
)

// Config is the configuration that a run was started with. It never changes; the handshake and a resume make a new one.
type Config struct {
	// URL is the workflow's endpoint.
	URL string
	// Options: Header is forwarded to the endpoint with every delivery, Failure is the failure callback, and what is
	// said of retries, delays, flow control, labels and redaction counts for the whole run.
	queue.Options
	Features Features
	Origin   Origin
	CallerIP string
	// Invoker is set if another run waits for this one.
	Invoker *Invoker
	// Keep are the events that the run keeps, as queue.RunOptions names them. Updates are those that it accepts until a step says otherwise.
	Keep    []string
	Updates []Rule
	// KeepValues are the keys whose values the run keeps, named as events are.
	KeepValues []string
}

// Invoker is the step of another run that invoked a run.
type Invoker struct {
	// Run is the number of that run; it changes if the run is resumed. RunID and Created name it to clients.
	Run     uint64
	RunID   string
	Created int64
	URL     string
	Step    Step
	// Open is the step's JSON as it was sent, without its closing brace.
	Open []byte
	// Options are those of the message that tells the invoker; Header is forwarded.
	Options queue.Options
}

// Run is one execution of a workflow. A stored one is never modified: a change replaces it.
type Run struct {
	// No is its place in the order of all runs ever started. It names the run inside of the state machine.
	No uint64
	ID string
	// Created is part of its identity, in unix milliseconds.
	Created int64
	*Config

	State RunState
	// Entries is the length of its log.
	Entries uint32
	// Completed is the time at which it came to its final state, in unix milliseconds.
	Completed int64
	// Result is the text that the endpoint ended it with, if HasResult.
	Result    payload.Payload
	HasResult bool
	// Fault is the cause of its failure, nil if it has not failed.
	Fault *Fault
	// Callback is its failure callback, nil if none was called.
	Callback *Callback
	// Dead is its dead letter; zero if there is none, or not any more.
	Dead queue.Stamp
	// RanAs is the run that it is a resume or restart of, 0 if of none.
	RanAs uint64
	// Reserved is the memory that counts already for its end, in bytes.
	Reserved int64
	// Hold says why nothing of it is delivered.
	Hold Hold
	// Data holds the state and the updates that its steps have set, nil if they have set none.
	Data *Data
	// Deployment is the one that it is on, empty for none, and Moves counts how often it was moved.
	Deployment string
	Moves      uint32
	// ForkOf is the run that it is a fork of, nil if it is none.
	ForkOf *ForkSource

	latest int64 // see Latest
	bytes  int64 // of it and its log
	spared int64 // of them, what does not count
	saved  int   // notifications kept for it, and their bytes
	kept   int64
}

// Active reports whether the run has not come to its end.
func (r *Run) Active() bool { return r.State == Started }

// Latest returns the time of the last change in the run's log, in unix milliseconds. It is not saved, but computed again when
// the log is loaded.
func (r *Run) Latest() int64 { return r.latest }

func (r *Run) touch(at int64) { r.latest = max(r.latest, at) }

// Fault says why a run has failed.
type Fault struct {
	// Entry is the place in the log of the entry that could not be delivered.
	Entry uint32
	// Message is the message that failed.
	Message queue.ID
	// Response is the answer to the last attempt; Status 0 if there was none.
	Response queue.Response
	Error    string
	// Retried counts the retries before the last attempt, Retries is the number allowed.
	Retried, Retries int
}

// Callback is the call of a failure callback.
type Callback struct {
	Message queue.ID
	State   CallbackState
	// Response is the answer to the last attempt, if there was one.
	Response *queue.Response
	// Errors are attempts that failed, Retries how many may, and Next when the next one is due, in unix milliseconds.
	Errors  []Attempt
	Retries int
	Next    int64
	// NotFound: the endpoint has no failure function.
	NotFound bool
}

// CallbackState says how a failure callback went.
type CallbackState uint8

// The states of a failure callback.
const (
	CallbackInProgress CallbackState = iota + 1
	CallbackSuccess
	CallbackFail
	CallbackCanceled
	callbackStates
)

var callbackNames = [callbackStates]string{"", "CALLBACK_INPROGRESS", "CALLBACK_SUCCESS", "CALLBACK_FAIL", "CALLBACK_CANCELED"}

// String is the state's name on the wire.
func (s CallbackState) String() string { return callbackNames[min(s, CallbackCanceled)] }

// ParseCallbackState reads what String wrote.
func ParseCallbackState(text string) (CallbackState, bool) {
	for s, name := range callbackNames {
		if name == text && s > 0 {
			return CallbackState(s), true
		}
	}
	return 0, false
}

// Attempt is an attempt that failed.
type Attempt struct {
	queue.Response
	Error string
	// At is the time at which its outcome was known, in unix milliseconds.
	At int64
	// Claimed is the time at which it began; 0 if that is not known, and in a Callback. Entry.Fields writes it.
	Claimed int64
}

// Fields codes the value in its wire format.
func (a *Attempt) Fields(c *wire.Codec) {
	c.Record(a.Response.Fields)
	c.Text(&a.Error)
	c.Varint(&a.At)
}

// Fields codes the value in its wire format.
func (co *Config) Fields(c *wire.Codec) {
	c.Text(&co.URL)
	c.Record(co.Options.Fields)
	wire.Uint(c, &co.Features)
	wire.Uint(c, &co.Origin)
	c.Text(&co.CallerIP)
	wire.Optional(c, &co.Invoker)
	if c.More(len(co.Keep)+len(co.Updates)+len(co.KeepValues) > 0) { // from the level env.Files on
		c.Texts(&co.Keep)
		wire.List(c, &co.Updates, 2)
	}
	if c.More(len(co.KeepValues) > 0) { // from the level env.Files on
		c.Texts(&co.KeepValues)
	}
}

// Fields codes the value in its wire format.
func (i *Invoker) Fields(c *wire.Codec) {
	c.Uvarint(&i.Run)
	c.Text(&i.RunID)
	c.Varint(&i.Created)
	c.Text(&i.URL)
	i.Step.Fields(c)
	c.Bytes(&i.Open)
	c.Record(i.Options.Fields)
}

// Fields codes the value in its wire format.
func (r *Run) Fields(c *wire.Codec) {
	c.Uvarint(&r.No)
	c.Text(&r.ID)
	c.Varint(&r.Created)
	if c.Reading() {
		r.Config = &Config{}
	}
	c.Record(r.Config.Fields)
	wire.Enum(c, &r.State, runStates)
	wire.Uint(c, &r.Entries)
	c.Varint(&r.Completed)
	c.Bool(&r.HasResult)
	r.Result.Field(c)
	wire.Optional(c, &r.Fault)
	wire.Optional(c, &r.Callback)
	r.Dead.Fields(c)
	c.Uvarint(&r.RanAs)
	placed := r.isPinned() || r.ForkOf != nil
	extended := r.Hold != NotHeld || r.Data != nil || placed
	if c.More(r.Reserved != 0 || extended) {
		c.Varint(&r.Reserved)
	}
	if c.More(extended) { // from the level env.Files on
		wire.Enum(c, &r.Hold, holds)
		wire.Optional(c, &r.Data)
	}
	if c.More(placed) { // from the level env.Files on
		c.Text(&r.Deployment)
		wire.Uint(c, &r.Moves)
	}
	if c.More(r.ForkOf != nil) { // from the level env.Files on
		wire.Optional(c, &r.ForkOf)
	}
}

// Fields codes the value in its wire format.
func (f *Fault) Fields(c *wire.Codec) {
	wire.Uint(c, &f.Entry)
	f.Message.Fields(c)
	c.Record(f.Response.Fields)
	c.Text(&f.Error)
	c.Int(&f.Retried)
	c.Int(&f.Retries)
}

// Fields codes the value in its wire format.
func (ca *Callback) Fields(c *wire.Codec) {
	ca.Message.Fields(c)
	wire.Enum(c, &ca.State, CallbackCanceled)
	wire.Optional(c, &ca.Response)
	wire.List(c, &ca.Errors, 3)
	c.Int(&ca.Retries)
	c.Varint(&ca.Next)
	c.Bool(&ca.NotFound)
}
