package workflow

import (
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
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
	// URL, with Options, is called when the event comes; the other pair if the wait times out.
	URL            string
	Options        queue.Options
	TimeoutURL     string
	TimeoutOptions queue.Options
	TimeoutBody    []byte
	// Reserved is the memory that counts already for its timeout, in bytes.
	Reserved int64
}

// Fields codes the value in its wire format.
func (w *Waiter) Fields(c *wire.Codec) {
	c.Uvarint(&w.No)
	c.Uvarint(&w.Run)
	c.Text(&w.RunID)
	c.Text(&w.EventID)
	w.Step.Fields(c)
	c.Bytes(&w.Open)
	c.Varint(&w.Deadline)
	c.Varint(&w.Created)
	c.Text(&w.TimeoutText)
	c.Text(&w.URL)
	c.Record(w.Options.Fields)
	c.Text(&w.TimeoutURL)
	c.Record(w.TimeoutOptions.Fields)
	c.Bytes(&w.TimeoutBody)
	if c.More(w.Reserved != 0) {
		c.Varint(&w.Reserved)
	}
}

// size is the logical memory of a waiter in bytes.
func (w *Waiter) size() int64 {
	return 640 + w.Reserved + int64(len(w.EventID)+len(w.Open)+len(w.URL)+len(w.TimeoutURL)+len(w.TimeoutBody)) +
		optionsSize(&w.Options) + optionsSize(&w.TimeoutOptions)
}

// Saved is a notification that is kept for a run until it waits for the event.
type Saved struct {
	Run     uint64
	EventID string
	Body    []byte
	// At is the time at which it came, in unix milliseconds.
	At   int64
	Hook bool
}

// Fields codes the value in its wire format.
func (s *Saved) Fields(c *wire.Codec) {
	c.Uvarint(&s.Run)
	c.Text(&s.EventID)
	c.Bytes(&s.Body)
	c.Varint(&s.At)
	c.Bool(&s.Hook)
}

func (s *Saved) size() int64 { return 200 + int64(len(s.EventID)+len(s.Body)) }
