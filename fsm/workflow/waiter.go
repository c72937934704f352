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
	// URL is where the run goes on, with Options; the other pair if it times out.
	URL            string
	Options        queue.Options
	TimeoutURL     string
	TimeoutOptions queue.Options
	TimeoutBody    []byte
	// Reserved is what counts already of what its timeout may add, in bytes.
	Reserved int64
}

// Fields are those of the format.
func (n *Waiter) Fields(c *wire.Codec) {
	c.Uvarint(&n.No)
	c.Uvarint(&n.Run)
	c.Text(&n.RunID)
	c.Text(&n.EventID)
	n.Step.Fields(c)
	c.Bytes(&n.Open)
	c.Varint(&n.Deadline)
	c.Varint(&n.Created)
	c.Text(&n.TimeoutText)
	c.Text(&n.URL)
	c.Record(n.Options.Fields)
	c.Text(&n.TimeoutURL)
	c.Record(n.TimeoutOptions.Fields)
	c.Bytes(&n.TimeoutBody)
	if c.More(n.Reserved != 0) {
		c.Varint(&n.Reserved)
	}
}

// size is the logical memory of a waiter in bytes.
func (n *Waiter) size() int64 {
	return 640 + n.Reserved + int64(len(n.EventID)+len(n.Open)+len(n.URL)+len(n.TimeoutURL)+len(n.TimeoutBody)) +
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

// Fields are those of the format.
func (n *Saved) Fields(c *wire.Codec) {
	c.Uvarint(&n.Run)
	c.Text(&n.EventID)
	c.Bytes(&n.Body)
	c.Varint(&n.At)
	c.Bool(&n.Hook)
}

func (n *Saved) size() int64 { return 200 + int64(len(n.EventID)+len(n.Body)) }
