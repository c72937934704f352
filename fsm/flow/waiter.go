package flow

import (
	"trireme/fsm/queue"
	"trireme/fsm/wire"
)

// Waiter is a step that waits for an event. It is gone when it has been notified, has timed out, or its run is over.
type Waiter struct {
	// No is its place in the order in which waiters were registered.
	No uint64
	// Run is the number of its run; RunID and Created name that to clients.
	Run     uint64
	RunID   string
	EventID string
	Step    Step
	Open    []byte
	// Deadline and Created are in unix milliseconds; TimeoutText is the timeout as it was written.
	Deadline, Created int64
	TimeoutText       string
	// URL is where the run goes on, with Options; the other pair if it times out.
	URL            string
	Options        queue.Options
	TimeoutURL     string
	TimeoutOptions queue.Options
	TimeoutBody    []byte
}

func (n *Waiter) encode(w *wire.Writer) {
	w.Uvarint(n.No)
	w.Uvarint(n.Run)
	w.String(n.RunID)
	w.String(n.EventID)
	n.Step.encode(w)
	w.Bytes(n.Open)
	w.Varint(n.Deadline)
	w.Varint(n.Created)
	w.String(n.TimeoutText)
	w.String(n.URL)
	w.Record(n.Options.Encode)
	w.String(n.TimeoutURL)
	w.Record(n.TimeoutOptions.Encode)
	w.Bytes(n.TimeoutBody)
}

// decodeWaiter reads a waiter; it aliases the input.
func decodeWaiter(r *wire.Reader) *Waiter {
	n := &Waiter{No: r.Uvarint(), Run: r.Uvarint(), RunID: r.Alias(), EventID: r.Alias(), Step: decodeStep(r), Open: some(r.Bytes())}
	n.Deadline, n.Created, n.TimeoutText, n.URL = r.Varint(), r.Varint(), r.Alias(), r.Alias()
	n.Options.Decode(r.Record())
	n.TimeoutURL = r.Alias()
	n.TimeoutOptions.Decode(r.Record())
	n.TimeoutBody = some(r.Bytes())
	return n
}

// size is the logical memory of a waiter in bytes.
func (n *Waiter) size() int64 {
	return 640 + int64(len(n.EventID)+len(n.Open)+len(n.URL)+len(n.TimeoutURL)+len(n.TimeoutBody)) +
		optionsSize(&n.Options) + optionsSize(&n.TimeoutOptions)
}

// Saved is a notification that is kept for a run until it waits for the event.
type Saved struct {
	Run     uint64
	EventID string
	Body    []byte
	// At is when it came, in unix milliseconds.
	At   int64
	Hook bool
}

func (n *Saved) encode(w *wire.Writer) {
	w.Uvarint(n.Run)
	w.String(n.EventID)
	w.Bytes(n.Body)
	w.Varint(n.At)
	w.Bool(n.Hook)
}

func decodeSaved(r *wire.Reader) *Saved {
	return &Saved{r.Uvarint(), r.Alias(), some(r.Bytes()), r.Varint(), r.Bool()}
}

func (n *Saved) size() int64 { return 200 + int64(len(n.EventID)+len(n.Body)) }
