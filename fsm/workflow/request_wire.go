package workflow

import (
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (s *Submissions) Fields(c *wire.Codec) { wire.Records(c, &s.Items) }

// Fields codes the value in its wire format.
func (s *Submission) Fields(c *wire.Codec) {
	wire.Uint(c, &s.Kind)
	c.Text(&s.URL)
	c.Text(&s.RunID)
	c.Bytes(&s.Body)
	c.Record(s.Options.Fields)
	wire.Uint(c, &s.Features)
	c.Text(&s.CallerIP)
	s.Step.Fields(c)
	wire.Uint(c, &s.Origin)
	c.Bool(&s.Again)
	wire.Optional(c, &s.Invoker)
	c.Int(&s.Depth)
	c.Text(&s.DedupID)
	c.Bool(&s.ContentDedup)
	deployed := s.Deployment != "" || len(s.KeepValues) > 0
	inline := s.Attempt != queue.AttemptRef{} || deployed
	tells := len(s.State)+len(s.Updates)+len(s.Keep) > 0 || inline
	if c.More(s.Created != 0 || len(s.Commit) > 0 || tells) {
		c.Varint(&s.Created)
	}
	if c.More(len(s.Commit) > 0 || tells) { // from the level env.Files on
		c.Bytes(&s.Commit)
	}
	if c.More(tells) { // from the level env.Files on
		c.Bytes(&s.State)
		c.Bytes(&s.Updates)
		c.Texts(&s.Keep)
	}
	if c.More(inline || len(s.KeepValues) > 0) { // from the level env.Files on
		s.Attempt.Fields(c)
		wire.Optional(c, &s.End)
	}
	if c.More(deployed) { // from the level env.Files on
		c.Text(&s.Deployment)
	}
	if c.More(len(s.KeepValues) > 0) { // from the level env.Files on
		c.Texts(&s.KeepValues)
	}
}

// Fields codes the value in its wire format.
func (r *Receipts) Fields(c *wire.Codec) { wire.Records(c, &r.Items) }

// Fields codes the value in its wire format.
func (r *Receipt) Fields(c *wire.Codec) {
	r.ID.Fields(c)
	c.Bool(&r.Deduplicated)
	c.String(&r.RunID)
	c.Varint(&r.Created)
	queue.OptionalError(c, &r.Refused)
	if c.More(r.Debounced || r.Attached || r.Inline) { // from the level env.Files on
		c.Bool(&r.Debounced)
		c.Bool(&r.Attached)
	}
	if c.More(r.Inline) { // from the level env.Files on
		c.Bool(&r.Inline)
		c.Bool(&r.Ended)
	}
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (a *Await) Fields(c *wire.Codec) {
	c.Text(&a.RunID)
	c.Text(&a.EventID)
	a.Step.Fields(c)
	c.Bytes(&a.Open)
	c.Varint(&a.Timeout)
	c.Text(&a.TimeoutText)
	c.Text(&a.URL)
	c.Record(a.Options.Fields)
	c.Text(&a.TimeoutURL)
	c.Record(a.TimeoutOptions.Fields)
	c.Bytes(&a.TimeoutBody)
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (n *Notification) Fields(c *wire.Codec) {
	c.Text(&n.EventID)
	c.Text(&n.RunID)
	c.Bool(&n.Hook)
	c.Bytes(&n.Body)
	if c.More(n.Until != 0 || n.After != 0 || n.Update) {
		c.Uvarint(&n.Until)
	}
	if c.More(n.After != 0 || n.Update) { // from the level env.Files on
		c.Uvarint(&n.After)
		c.Bool(&n.Update)
		c.Text(&n.UpdateID)
	}
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (n *Notified) Fields(c *wire.Codec) {
	wire.Records(c, &n.Woken)
	c.Bool(&n.Stored)
	tells := n.After != 0 || len(n.Kept) > 0 || n.Update != nil
	if c.More(n.More || tells) {
		c.Bool(&n.More)
		c.Uvarint(&n.Until)
	}
	if c.More(tells) { // from the level env.Files on
		c.Uvarint(&n.After)
		wire.Records(c, &n.Kept)
		wire.Optional(c, &n.Update)
	}
}

// Fields codes the value in its wire format.
func (k *Keeper) Fields(c *wire.Codec) {
	c.Text(&k.RunID)
	c.Varint(&k.Created)
	c.Text(&k.URL)
	c.Bool(&k.Full)
}

// Fields codes the value in its wire format.
func (v *Verdict) Fields(c *wire.Codec) {
	c.Text(&v.ID)
	c.Bool(&v.Accepted)
	c.Bool(&v.Deduplicated)
	c.Uvarint(&v.Version)
	c.Text(&v.Rule)
	c.Text(&v.Refused)
}

// Fields codes the value in its wire format.
func (w *Woken) Fields(c *wire.Codec) {
	if c.Reading() {
		w.Waiter = &Waiter{}
	}
	c.Record(w.Waiter.Fields)
	w.Message.Fields(c)
	c.Text(&w.RunID)
	c.Varint(&w.Created)
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (e *Ending) Fields(c *wire.Codec) {
	c.Text(&e.RunID)
	c.Bytes(&e.Result)
	c.Bool(&e.HasResult)
}

// Fields codes the value in its wire format.
func (rr *RunRef) Fields(c *wire.Codec) {
	c.String(&rr.ID)
	c.Varint(&rr.Created)
	wire.Enum(c, &rr.State, runStates)
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (ca *Cancellation) Fields(c *wire.Codec) {
	c.Record(ca.Filter.Fields)
	c.Int(&ca.Limit)
	c.Bool(&ca.Strict)
	c.Uvarint(&ca.After)
}

// Fields codes the value in its wire format.
func (ca *Cancelled) Fields(c *wire.Codec) {
	c.Int(&ca.Count)
	c.Bool(&ca.More)
	c.Uvarint(&ca.Cursor)
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (ds *DeadSelection) Fields(c *wire.Codec) {
	wire.List(c, &ds.IDs, 2)
	c.Record(ds.Filter.Fields)
	c.Int(&ds.Limit)
	ds.After.Fields(c)
	c.Bool(&ds.Strict)
	c.Bool(&ds.None)
}

// Fields codes the value in its wire format.
func (f *DeadFilter) Fields(c *wire.Codec) {
	c.Record(f.Filter.Fields)
	wire.Each(c, &f.Callbacks, func(c *wire.Codec, s *CallbackState) { wire.Enum(c, s, callbackStates) })
	wire.Each(c, &f.Statuses, (*wire.Codec).Int)
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (r *Revival) Fields(c *wire.Codec) {
	c.Record(r.DeadSelection.Fields)
	c.Bool(&r.Restart)
	c.Text(&r.RunID)
	c.Record(r.Options.Fields)
	if c.More(r.Deployment != "") { // from the level env.Files on
		c.Text(&r.Deployment)
	}
}

// Fields codes the value in its wire format.
func (r *Revived) Fields(c *wire.Codec) {
	wire.List(c, &r.Runs, 3)
	c.Bool(&r.More)
	r.Cursor.Fields(c)
}

// Fields codes the value in its wire format.
func (dd *DeadDeleted) Fields(c *wire.Codec) {
	c.Int(&dd.Count)
	c.Bool(&dd.More)
	dd.Cursor.Fields(c)
}

// Fields codes the value in its wire format.
func (cc *CallbackChange) Fields(c *wire.Codec) {
	cc.Dead.Fields(c)
	c.Bool(&cc.Cancel)
}
