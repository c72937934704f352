package queue

import "github.com/trireme-dev/trireme/fsm/wire"

// QueueChange makes or changes a queue: ActPut, ActPause, ActResume, ActDelete. Deleting a missing one is no error.
type QueueChange struct {
	Name string
	Act  Act
	// Parallelism and Paused count for ActPut. A Parallelism of 0 keeps that of an existing queue, and is 1 for a new
	// one.
	Parallelism int
	Paused      bool
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (qc *QueueChange) Fields(c *wire.Codec) {
	c.Text(&qc.Name)
	qc.Act.field(c)
	c.Int(&qc.Parallelism)
	c.Bool(&qc.Paused)
}

// GroupChange makes or changes a URL group: ActAddEndpoints, ActRemoveEndpoints, ActSetHeaders, ActDelete. Deleting a
// missing group is no error; removing the last endpoint deletes the group.
type GroupChange struct {
	Name      string
	Act       Act
	Endpoints []Endpoint
	// Header are the default configuration headers, for ActSetHeaders, and Options what they say.
	Header  []Field
	Options Options
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (gc *GroupChange) Fields(c *wire.Codec) {
	c.Text(&gc.Name)
	gc.Act.field(c)
	wire.List(c, &gc.Endpoints, 2)
	wire.List(c, &gc.Header, 2)
	c.Record(gc.Options.Fields)
}

// FlowControlChange changes a flow-control key: ActPause, ActResume, ActPin, ActUnpin, ActResetRate, ActReset. A missing key
// is made by ActPin and ActPause.
type FlowControlChange struct {
	Key string
	Act Act
	// Parallelism and Rate tell which parts ActUnpin unpins; for ActPin those above 0 are pinned, Rate with its Period
	// in milliseconds.
	Parallelism, Rate int
	Period            int64
	// Burst is pinned with Rate: 0 for windows of Period.
	Burst int
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (cc *FlowControlChange) Fields(c *wire.Codec) {
	c.Text(&cc.Key)
	cc.Act.field(c)
	c.Int(&cc.Parallelism)
	c.Int(&cc.Rate)
	c.Varint(&cc.Period)
	if c.More(cc.Burst != 0) { // from the level env.Files on
		c.Int(&cc.Burst)
	}
}

// Parallelism is the argument of the operation SetParallelism: the most attempts under way at once, 0 for no limit.
type Parallelism struct{ Max int }

// Fields codes the value in its wire format.
func (p *Parallelism) Fields(c *wire.Codec) { c.Int(&p.Max) }

// Rotation asks for new signing keys: Next becomes Current, and a fresh one is drawn. With Current and Next set, these
// are taken instead, unless there are keys already and Again is not set.
type Rotation struct {
	Keys
	Again bool
}

// Fields codes the value in its wire format.
func (r *Rotation) Fields(c *wire.Codec) {
	r.Keys.Fields(c)
	c.Bool(&r.Again)
}

// Cancellation cancels the messages of IDs, or, without IDs, those that Filter matches: all of them with an empty one.
// One entry looks at MaxScan messages at most; the caller goes on with After until More is false.
type Cancellation struct {
	IDs    []ID
	Filter Filter
	// Limit is the most messages to cancel, 0 for no limit.
	Limit int
	// After continues an earlier request: the Last of its Cancelled. 0 begins.
	After uint64
	// Strict: an id of which no message waits or runs is ErrNotFound. For the cancellation of a single message.
	Strict bool
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (ca *Cancellation) Fields(c *wire.Codec) {
	wire.List(c, &ca.IDs, 2)
	c.Record(ca.Filter.Fields)
	c.Int(&ca.Limit)
	c.Uvarint(&ca.After)
	c.Bool(&ca.Strict)
}

// Cancelled says how many messages were cancelled that were neither done nor cancelled before.
type Cancelled struct {
	Count int
	// More: there are messages that were not looked at yet, behind Last.
	More bool
	Last uint64
}

// Fields codes the value in its wire format.
func (ca *Cancelled) Fields(c *wire.Codec) {
	c.Int(&ca.Count)
	c.Bool(&ca.More)
	c.Uvarint(&ca.Last)
}

// DeadSelection chooses dead letters, oldest first: those of IDs, or, without IDs, those that Filter matches.
type DeadSelection struct {
	IDs    []Stamp
	Filter Filter
	// Limit is the most dead letters to take, 1 to MaxDeadPage; 0 is MaxDeadPage.
	Limit int
	// After continues an earlier request: the Cursor of its answer. Zero begins.
	After Stamp
	// Strict: a missing id is ErrNotFound, instead of being skipped. For operations on a single dead letter.
	Strict bool
}

// MaxDeadPage is the most dead letters that one answer lists and one operation takes.
const MaxDeadPage = 100

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (ds *DeadSelection) Fields(c *wire.Codec) {
	wire.List(c, &ds.IDs, 2)
	c.Record(ds.Filter.Fields)
	c.Int(&ds.Limit)
	ds.After.Fields(c)
	c.Bool(&ds.Strict)
}

// DeadDeleted counts the dead letters that were deleted. If More are left that match, Cursor continues after them.
type DeadDeleted struct {
	Count  int
	More   bool
	Cursor Stamp
}

// Fields codes the value in its wire format.
func (dd *DeadDeleted) Fields(c *wire.Codec) {
	c.Int(&dd.Count)
	c.Bool(&dd.More)
	dd.Cursor.Fields(c)
}

// DeadRetry publishes dead letters anew, each as a message of its own, and removes them.
type DeadRetry struct {
	DeadSelection
	// Options replace those of the original message that they name.
	Options Options
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (dr *DeadRetry) Fields(c *wire.Codec) {
	c.Record(dr.DeadSelection.Fields)
	c.Record(dr.Options.Fields)
}

// DeadRetried lists the new messages, in the order of the dead letters. If More are left, Cursor continues after them.
type DeadRetried struct {
	Messages []Published
	More     bool
	Cursor   Stamp
}

// Fields codes the value in its wire format.
func (dr *DeadRetried) Fields(c *wire.Codec) {
	wire.List(c, &dr.Messages, 4)
	c.Bool(&dr.More)
	dr.Cursor.Fields(c)
	joinedFields(c, dr.Messages)
}
