package workflow

import (
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Submissions) Fields(c *wire.Codec) { wire.Records(c, &n.Items) }

// Fields are those of the format.
func (n *Submission) Fields(c *wire.Codec) {
	wire.Uint(c, &n.Kind)
	c.Text(&n.URL)
	c.Text(&n.RunID)
	c.Bytes(&n.Body)
	c.Record(n.Options.Fields)
	wire.Uint(c, &n.Features)
	c.Text(&n.CallerIP)
	n.Step.Fields(c)
	wire.Uint(c, &n.Origin)
	c.Bool(&n.Again)
	wire.Optional(c, &n.Invoker)
	c.Int(&n.Depth)
	c.Text(&n.DedupID)
	c.Bool(&n.ContentDedup)
	if c.More(n.Created != 0) {
		c.Varint(&n.Created)
	}
}

// Fields are those of the format.
func (n *Receipts) Fields(c *wire.Codec) { wire.Records(c, &n.Items) }

// Fields are those of the format.
func (n *Receipt) Fields(c *wire.Codec) {
	n.ID.Fields(c)
	c.Bool(&n.Deduplicated)
	c.String(&n.RunID)
	c.Varint(&n.Created)
	queue.OptionalError(c, &n.Refused)
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Await) Fields(c *wire.Codec) {
	c.Text(&n.RunID)
	c.Text(&n.EventID)
	n.Step.Fields(c)
	c.Bytes(&n.Open)
	c.Varint(&n.Timeout)
	c.Text(&n.TimeoutText)
	c.Text(&n.URL)
	c.Record(n.Options.Fields)
	c.Text(&n.TimeoutURL)
	c.Record(n.TimeoutOptions.Fields)
	c.Bytes(&n.TimeoutBody)
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Notification) Fields(c *wire.Codec) {
	c.Text(&n.EventID)
	c.Text(&n.RunID)
	c.Bool(&n.Hook)
	c.Bytes(&n.Body)
	if c.More(n.Until != 0) {
		c.Uvarint(&n.Until)
	}
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Notified) Fields(c *wire.Codec) {
	wire.Records(c, &n.Woken)
	c.Bool(&n.Stored)
	if c.More(n.More) {
		c.Bool(&n.More)
		c.Uvarint(&n.Until)
	}
}

// Fields are those of the format.
func (n *Woken) Fields(c *wire.Codec) {
	if c.Reading() {
		n.Waiter = &Waiter{}
	}
	c.Record(n.Waiter.Fields)
	n.Message.Fields(c)
	c.Text(&n.RunID)
	c.Varint(&n.Created)
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Ending) Fields(c *wire.Codec) {
	c.Text(&n.RunID)
	c.Bytes(&n.Result)
	c.Bool(&n.HasResult)
}

// Fields are those of the format.
func (n *RunRef) Fields(c *wire.Codec) {
	c.String(&n.ID)
	c.Varint(&n.Created)
	wire.Enum(c, &n.State, runStates)
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Cancellation) Fields(c *wire.Codec) {
	c.Record(n.Filter.Fields)
	c.Int(&n.Limit)
	c.Bool(&n.Strict)
	c.Uvarint(&n.After)
}

// Fields are those of the format.
func (n *Cancelled) Fields(c *wire.Codec) {
	c.Int(&n.Count)
	c.Bool(&n.More)
	c.Uvarint(&n.Cursor)
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *DeadSelection) Fields(c *wire.Codec) {
	wire.List(c, &n.IDs, 2)
	c.Record(n.Filter.Fields)
	c.Int(&n.Limit)
	n.After.Fields(c)
	c.Bool(&n.Strict)
	c.Bool(&n.None)
}

// Fields are those of the format.
func (f *DeadFilter) Fields(c *wire.Codec) {
	c.Record(f.Filter.Fields)
	wire.Each(c, &f.Callbacks, func(c *wire.Codec, s *CallbackState) { wire.Enum(c, s, callbackStates) })
	wire.Each(c, &f.Statuses, (*wire.Codec).Int)
}

// Fields are those of the format; texts and bytes alias what they are read from.
func (n *Revival) Fields(c *wire.Codec) {
	c.Record(n.DeadSelection.Fields)
	c.Bool(&n.Restart)
	c.Text(&n.RunID)
	c.Record(n.Options.Fields)
}

// Fields are those of the format.
func (n *Revived) Fields(c *wire.Codec) {
	wire.List(c, &n.Runs, 3)
	c.Bool(&n.More)
	n.Cursor.Fields(c)
}

// Fields are those of the format.
func (n *DeadDeleted) Fields(c *wire.Codec) {
	c.Int(&n.Count)
	c.Bool(&n.More)
	n.Cursor.Fields(c)
}

// Fields are those of the format.
func (n *CallbackChange) Fields(c *wire.Codec) {
	n.Dead.Fields(c)
	c.Bool(&n.Cancel)
}
