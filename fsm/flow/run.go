package flow

import (
	"trireme/fsm/queue"
	"trireme/fsm/wire"
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

// Features is the set of what a client asks of the server (workflows.md 2.4).
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

// Config is what a run was started with. It never changes; the handshake and a resume make a new one.
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
	// Completed is when it came to its final state, in unix milliseconds.
	Completed int64
	// Result is the text that the endpoint ended it with, if HasResult.
	Result    []byte
	HasResult bool
	// Fault is what made it fail, nil if nothing did.
	Fault *Fault
	// Callback is its failure callback, nil if none was called.
	Callback *Callback
	// Dead is its dead letter; zero if there is none, or not any more.
	Dead queue.Stamp
	// RanAs is the run that it is a resume or restart of, 0 if of none.
	RanAs uint64

	latest int64 // see Latest
	bytes  int64 // of it and its log
	saved  int   // notifications kept for it, and their bytes
	kept   int64
}

// Active tells whether the run has not come to its end.
func (r *Run) Active() bool { return r.State == Started }

// Latest is when something last happened that the run's log tells, in unix milliseconds: nothing in it is later. It is not
// saved, but found again when the log is loaded.
func (r *Run) Latest() int64 { return r.latest }

func (r *Run) touch(at int64) { r.latest = max(r.latest, at) }

// Fault says why a run has failed.
type Fault struct {
	// Entry is the place in the log of the entry that could not be delivered.
	Entry uint32
	// Message is the message that failed.
	Message queue.ID
	// Response is that of the last attempt; Status 0 if there was no answer.
	Response queue.Response
	Error    string
	// Retried counts the retries before the last attempt, Retries is how many were allowed.
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
	// At is when its outcome was known, in unix milliseconds.
	At int64
}

func (c *Config) encode(w *wire.Writer) {
	w.String(c.URL)
	w.Record(c.Options.Encode)
	w.Uvarint(uint64(c.Features))
	w.Uvarint(uint64(c.Origin))
	w.String(c.CallerIP)
	w.Record(func(w *wire.Writer) {
		if c.Invoker != nil {
			c.Invoker.encode(w)
		}
	})
}

// decodeConfig reads a Config; it aliases the input.
func decodeConfig(r *wire.Reader) *Config {
	c := &Config{URL: r.Alias()}
	c.Options.Decode(r.Record())
	c.Features, c.Origin, c.CallerIP = Features(r.Uvarint()), Origin(r.Uvarint()), r.Alias()
	if in := r.Record(); in.Len() > 0 {
		c.Invoker = decodeInvoker(in)
	}
	return c
}

func (v *Invoker) encode(w *wire.Writer) {
	w.Uvarint(v.Run)
	w.String(v.RunID)
	w.Varint(v.Created)
	w.String(v.URL)
	v.Step.encode(w)
	w.Bytes(v.Open)
	w.Record(v.Options.Encode)
}

func decodeInvoker(r *wire.Reader) *Invoker {
	v := &Invoker{Run: r.Uvarint(), RunID: r.Alias(), Created: r.Varint(), URL: r.Alias(), Step: decodeStep(r), Open: some(r.Bytes())}
	v.Options.Decode(r.Record())
	return v
}

func (r *Run) encode(w *wire.Writer) {
	w.Uvarint(r.No)
	w.String(r.ID)
	w.Varint(r.Created)
	w.Record(r.Config.encode)
	w.Uvarint(uint64(r.State))
	w.Uvarint(uint64(r.Entries))
	w.Varint(r.Completed)
	w.Bool(r.HasResult)
	w.Bytes(r.Result)
	w.Record(func(w *wire.Writer) {
		if r.Fault != nil {
			r.Fault.encode(w)
		}
	})
	w.Record(func(w *wire.Writer) {
		if r.Callback != nil {
			r.Callback.encode(w)
		}
	})
	encodeStamp(w, r.Dead)
	w.Uvarint(r.RanAs)
}

// decodeRun reads a run; it aliases the input.
func decodeRun(in *wire.Reader) *Run {
	r := &Run{No: in.Uvarint(), ID: in.Alias(), Created: in.Varint(), Config: decodeConfig(in.Record())}
	r.State, r.Entries, r.Completed = RunState(min(in.Uvarint(), uint64(runStates))), uint32(in.Uvarint()), in.Varint()
	r.HasResult, r.Result = in.Bool(), some(in.Bytes())
	if f := in.Record(); f.Len() > 0 {
		r.Fault = decodeFault(f)
	}
	if c := in.Record(); c.Len() > 0 {
		r.Callback = decodeCallback(c)
	}
	r.Dead, r.RanAs = decodeStamp(in), in.Uvarint()
	return r
}

func (f *Fault) encode(w *wire.Writer) {
	w.Uvarint(uint64(f.Entry))
	encodeID(w, f.Message)
	w.Record(f.Response.Encode)
	w.String(f.Error)
	w.Varint(int64(f.Retried))
	w.Varint(int64(f.Retries))
}

func decodeFault(r *wire.Reader) *Fault {
	f := &Fault{Entry: uint32(r.Uvarint()), Message: decodeID(r)}
	f.Response.Decode(r.Record())
	f.Error, f.Retried, f.Retries = r.Alias(), int(r.Varint()), int(r.Varint())
	return f
}

func (c *Callback) encode(w *wire.Writer) {
	encodeID(w, c.Message)
	w.Uvarint(uint64(c.State))
	w.Record(func(w *wire.Writer) {
		if c.Response != nil {
			c.Response.Encode(w)
		}
	})
	encodeAttempts(w, c.Errors)
	w.Varint(int64(c.Retries))
	w.Varint(c.Next)
	w.Bool(c.NotFound)
}

func decodeCallback(r *wire.Reader) *Callback {
	c := &Callback{Message: decodeID(r), State: CallbackState(min(r.Uvarint(), uint64(CallbackCanceled)))}
	if in := r.Record(); in.Len() > 0 {
		c.Response = &queue.Response{}
		c.Response.Decode(in)
	}
	c.Errors, c.Retries, c.Next, c.NotFound = decodeAttempts(r), int(r.Varint()), r.Varint(), r.Bool()
	return c
}
