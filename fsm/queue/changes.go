package queue

import "trireme/fsm/wire"

// QueueChange makes or changes a queue: ActPut, ActPause, ActResume, ActDelete. Deleting a missing one is no error.
type QueueChange struct {
	Name string
	Act  Act
	// Parallelism and Paused count for ActPut. A Parallelism of 0 keeps that of an existing queue, and is 1 for a new
	// one.
	Parallelism int
	Paused      bool
}

// Encode writes the fields.
func (n *QueueChange) Encode(w *wire.Writer) {
	w.String(n.Name)
	w.Uvarint(uint64(n.Act))
	w.Varint(int64(n.Parallelism))
	w.Bool(n.Paused)
}

// Decode reads the fields; texts alias the input.
func (n *QueueChange) Decode(r *wire.Reader) {
	n.Name, n.Act, n.Parallelism, n.Paused = r.Alias(), decodeAct(r), int(r.Varint()), r.Bool()
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

// Encode writes the fields.
func (n *GroupChange) Encode(w *wire.Writer) {
	w.String(n.Name)
	w.Uvarint(uint64(n.Act))
	encodeEndpoints(w, n.Endpoints)
	encodeHeader(w, n.Header)
	w.Record(n.Options.Encode)
}

// Decode reads the fields; texts alias the input.
func (n *GroupChange) Decode(r *wire.Reader) {
	n.Name, n.Act, n.Endpoints, n.Header = r.Alias(), decodeAct(r), decodeEndpoints(r), decodeHeader(r)
	n.Options.Decode(r.Record())
}

// FlowChange changes a flow-control key: ActPause, ActResume, ActPin, ActUnpin, ActResetRate, ActReset. A missing key
// is made by ActPin and ActPause.
type FlowChange struct {
	Key string
	Act Act
	// Parallelism and Rate tell which parts ActUnpin unpins; for ActPin those above 0 are pinned, Rate with its Period
	// in milliseconds.
	Parallelism, Rate int
	Period            int64
}

// Encode writes the fields.
func (n *FlowChange) Encode(w *wire.Writer) {
	w.String(n.Key)
	w.Uvarint(uint64(n.Act))
	w.Varint(int64(n.Parallelism))
	w.Varint(int64(n.Rate))
	w.Varint(n.Period)
}

// Decode reads the fields; texts alias the input.
func (n *FlowChange) Decode(r *wire.Reader) {
	n.Key, n.Act, n.Parallelism, n.Rate, n.Period = r.Alias(), decodeAct(r), int(r.Varint()), int(r.Varint()), r.Varint()
}

// Parallelism is the argument of the operation SetParallelism: the most attempts under way at once, 0 for no limit.
type Parallelism struct{ Max int }

// Encode writes the fields.
func (n *Parallelism) Encode(w *wire.Writer) { w.Varint(int64(n.Max)) }

// Decode reads the fields.
func (n *Parallelism) Decode(r *wire.Reader) { n.Max = int(r.Varint()) }

// Rotation asks for new signing keys: Next becomes Current, and a fresh one is drawn. With Current and Next set, these
// are taken instead, unless there are keys already and Again is not set.
type Rotation struct {
	Keys
	Again bool
}

// Encode writes the fields.
func (n *Rotation) Encode(w *wire.Writer) { n.Keys.Encode(w); w.Bool(n.Again) }

// Decode reads the fields.
func (n *Rotation) Decode(r *wire.Reader) { n.Keys.Decode(r); n.Again = r.Bool() }

// Cancellation cancels the messages of IDs, or, without IDs, those that Filter matches: all of them with an empty one.
// One entry looks at MaxScan messages at most; the caller goes on with After until More is false.
type Cancellation struct {
	IDs    []ID
	Filter Filter
	// Limit is the most messages to cancel, 0 for no limit.
	Limit int
	// After is where to go on: the Last of the Cancelled before, 0 to begin.
	After uint64
	// Strict: an id of which no message waits or runs is ErrNotFound. For the cancellation of a single message.
	Strict bool
}

// Encode writes the fields.
func (n *Cancellation) Encode(w *wire.Writer) {
	encodeIDs(w, n.IDs)
	w.Record(n.Filter.Encode)
	w.Varint(int64(n.Limit))
	w.Uvarint(n.After)
	w.Bool(n.Strict)
}

// Decode reads the fields; texts alias the input.
func (n *Cancellation) Decode(r *wire.Reader) {
	n.IDs = decodeIDs(r)
	n.Filter.Decode(r.Record())
	n.Limit, n.After, n.Strict = int(r.Varint()), r.Uvarint(), r.Bool()
}

// Cancelled says how many messages were cancelled that were neither done nor cancelled before.
type Cancelled struct {
	Count int
	// More: there are messages that were not looked at yet, behind Last.
	More bool
	Last uint64
}

// Encode writes the fields.
func (n *Cancelled) Encode(w *wire.Writer) {
	w.Varint(int64(n.Count))
	w.Bool(n.More)
	w.Uvarint(n.Last)
}

// Decode reads the fields.
func (n *Cancelled) Decode(r *wire.Reader) {
	n.Count, n.More, n.Last = int(r.Varint()), r.Bool(), r.Uvarint()
}

// DeadSelection chooses dead letters, oldest first: those of IDs, or, without IDs, those that Filter matches.
type DeadSelection struct {
	IDs    []Stamp
	Filter Filter
	// Limit is the most dead letters to take, 1 to MaxDeadPage; 0 is MaxDeadPage.
	Limit int
	// After is where to go on: the Cursor of the answer before; zero to begin.
	After Stamp
	// Strict: a missing id is ErrNotFound, instead of being skipped. For operations on a single dead letter.
	Strict bool
}

// MaxDeadPage is the most dead letters that one answer lists and one operation takes.
const MaxDeadPage = 100

// Encode writes the fields.
func (n *DeadSelection) Encode(w *wire.Writer) {
	w.Uvarint(uint64(len(n.IDs)))
	for _, t := range n.IDs {
		encodeStamp(w, t)
	}
	w.Record(n.Filter.Encode)
	w.Varint(int64(n.Limit))
	encodeStamp(w, n.After)
	w.Bool(n.Strict)
}

// Decode reads the fields; texts alias the input.
func (n *DeadSelection) Decode(r *wire.Reader) {
	if k := r.Count(2); k > 0 {
		n.IDs = make([]Stamp, k)
		for i := range n.IDs {
			n.IDs[i] = decodeStamp(r)
		}
	}
	n.Filter.Decode(r.Record())
	n.Limit, n.After, n.Strict = int(r.Varint()), decodeStamp(r), r.Bool()
}

// DeadDeleted says how many dead letters were deleted. Cursor is where to go on if More are left that match.
type DeadDeleted struct {
	Count  int
	More   bool
	Cursor Stamp
}

// Encode writes the fields.
func (n *DeadDeleted) Encode(w *wire.Writer) {
	w.Varint(int64(n.Count))
	w.Bool(n.More)
	encodeStamp(w, n.Cursor)
}

// Decode reads the fields.
func (n *DeadDeleted) Decode(r *wire.Reader) {
	n.Count, n.More, n.Cursor = int(r.Varint()), r.Bool(), decodeStamp(r)
}

// DeadRetry publishes dead letters anew, each as a message of its own, and removes them.
type DeadRetry struct {
	DeadSelection
	// Options replace those of the original message that they name.
	Options Options
}

// Encode writes the fields.
func (n *DeadRetry) Encode(w *wire.Writer) {
	w.Record(n.DeadSelection.Encode)
	w.Record(n.Options.Encode)
}

// Decode reads the fields; texts alias the input.
func (n *DeadRetry) Decode(r *wire.Reader) {
	n.DeadSelection.Decode(r.Record())
	n.Options.Decode(r.Record())
}

// DeadRetried are the new messages, in the order of the dead letters. Cursor is where to go on if More are left.
type DeadRetried struct {
	Messages []Published
	More     bool
	Cursor   Stamp
}

// Encode writes the fields.
func (n *DeadRetried) Encode(w *wire.Writer) {
	encodePublished(w, n.Messages)
	w.Bool(n.More)
	encodeStamp(w, n.Cursor)
}

// Decode reads the fields.
func (n *DeadRetried) Decode(r *wire.Reader) {
	n.Messages, n.More, n.Cursor = decodePublished(r), r.Bool(), decodeStamp(r)
}

func encodeStamp(w *wire.Writer, t Stamp) { w.Varint(t.At); w.Uvarint(t.Seq) }

func decodeStamp(r *wire.Reader) Stamp { return Stamp{r.Varint(), r.Uvarint()} }

func encodeIDs(w *wire.Writer, list []ID) {
	w.Uvarint(uint64(len(list)))
	for _, id := range list {
		id.encode(w)
	}
}

func decodeIDs(r *wire.Reader) []ID {
	n := r.Count(2)
	if n == 0 {
		return nil
	}
	list := make([]ID, n)
	for i := range list {
		list[i] = decodeID(r)
	}
	return list
}
