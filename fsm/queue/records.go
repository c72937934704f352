package queue

import "trireme/fsm/wire"

// Queue is a named queue: its messages are delivered in the order in which they came, Parallelism of the oldest at a
// time.
type Queue struct {
	Name string
	no   uint64
	// Parallelism is 1 or more.
	Parallelism int
	Paused      bool
	// Created and Updated are in unix milliseconds.
	Created, Updated int64
	// deleted: its name is gone, and its messages are being dropped.
	deleted bool
}

// Encode writes the fields.
func (q *Queue) Encode(w *wire.Writer) {
	w.String(q.Name)
	w.Uvarint(q.no)
	w.Varint(int64(q.Parallelism))
	w.Bool(q.Paused)
	w.Varint(q.Created)
	w.Varint(q.Updated)
	w.Bool(q.deleted)
}

// Decode reads the fields.
func (q *Queue) Decode(r *wire.Reader) {
	q.Name, q.no, q.Parallelism, q.Paused = r.String(), r.Uvarint(), int(r.Varint()), r.Bool()
	q.Created, q.Updated, q.deleted = r.Varint(), r.Varint(), r.Bool()
}

// Group is a URL group, also called topic: what is published to it goes to each of its endpoints.
type Group struct {
	// ID is grp_…, accepted wherever Name is.
	ID, Name string
	// Created and Updated are in unix milliseconds.
	Created, Updated int64
	// Endpoints are in the order in which they were added.
	Endpoints []Endpoint
	// Header are the default configuration headers as given, Options what they say.
	Header  []Field
	Options Options
}

// Endpoint is one destination of a Group.
type Endpoint struct {
	// Name may be empty.
	Name, URL string
}

// Encode writes the fields.
func (g *Group) Encode(w *wire.Writer) {
	w.String(g.ID)
	w.String(g.Name)
	w.Varint(g.Created)
	w.Varint(g.Updated)
	encodeEndpoints(w, g.Endpoints)
	encodeHeader(w, g.Header)
	w.Record(g.Options.Encode)
}

// Decode reads the fields; texts alias the input.
func (g *Group) Decode(r *wire.Reader) {
	g.ID, g.Name, g.Created, g.Updated = r.Alias(), r.Alias(), r.Varint(), r.Varint()
	g.Endpoints, g.Header = decodeEndpoints(r), decodeHeader(r)
	g.Options.Decode(r.Record())
}

func encodeEndpoints(w *wire.Writer, list []Endpoint) {
	w.Uvarint(uint64(len(list)))
	for _, e := range list {
		w.String(e.Name)
		w.String(e.URL)
	}
}

func decodeEndpoints(r *wire.Reader) []Endpoint {
	n := r.Count(2)
	if n == 0 {
		return nil
	}
	list := make([]Endpoint, n)
	for i := range list {
		list[i] = Endpoint{r.Alias(), r.Alias()}
	}
	return list
}

// FlowKey is a flow-control key: the limits that all messages of the key share.
type FlowKey struct {
	Key string
	no  uint64
	// Parallelism is the most attempts under way, Rate the most in Period milliseconds; 0 is no limit.
	Parallelism, Rate int
	Period            int64
	// A pinned part is not changed by messages.
	PinnedParallelism, PinnedRate bool
	Paused                        bool
	// WindowStart is when the window of Rate began, in unix milliseconds, and Count what was claimed in it.
	WindowStart int64
	Count       int
	// live counts the messages of the key that are not done.
	live int
	// opening is where the key stands in the order of those that may be claimed from; zero if nothing can open it but
	// an end of an attempt, a new message or a resume.
	opening Stamp
	// used is when the key was last used, in unix milliseconds.
	used int64
	// idle is when the key is forgotten, in unix milliseconds, 0 while it is needed.
	idle int64
}

// Encode writes the fields.
func (f *FlowKey) Encode(w *wire.Writer) {
	w.String(f.Key)
	w.Uvarint(f.no)
	w.Varint(int64(f.Parallelism))
	w.Varint(int64(f.Rate))
	w.Varint(f.Period)
	w.Bool(f.PinnedParallelism)
	w.Bool(f.PinnedRate)
	w.Bool(f.Paused)
	w.Varint(f.WindowStart)
	w.Varint(int64(f.Count))
	w.Varint(int64(f.live))
	w.Varint(f.opening.At)
	w.Uvarint(f.opening.Seq)
	w.Varint(f.used)
	w.Varint(f.idle)
}

// Decode reads the fields.
func (f *FlowKey) Decode(r *wire.Reader) {
	f.Key, f.no, f.Parallelism, f.Rate, f.Period = r.String(), r.Uvarint(), int(r.Varint()), int(r.Varint()), r.Varint()
	f.PinnedParallelism, f.PinnedRate, f.Paused = r.Bool(), r.Bool(), r.Bool()
	f.WindowStart, f.Count, f.live = r.Varint(), int(r.Varint()), int(r.Varint())
	f.opening, f.used, f.idle = Stamp{r.Varint(), r.Uvarint()}, r.Varint(), r.Varint()
}

// Keys are the signing keys. Deliveries are signed with Current.
type Keys struct{ Current, Next string }

// Encode writes the fields.
func (k *Keys) Encode(w *wire.Writer) { w.String(k.Current); w.String(k.Next) }

// Decode reads the fields.
func (k *Keys) Decode(r *wire.Reader) { k.Current, k.Next = r.String(), r.String() }

// Dead is a dead letter: a message that has failed. Its id is the time at which it failed and the message's number.
type Dead struct {
	Stamp
	// Response is that of the last attempt; Status 0 if there was no answer.
	Response Response
	Error    string
	// Callback is how the failure callback went; zero if there is none.
	Callback CallbackInfo
}

// CallbackState says how a failure callback went.
type CallbackState uint8

// The states of a failure callback.
const (
	CallbackNone CallbackState = iota
	CallbackInProgress
	CallbackSuccess
	CallbackFail
)

// String is the state's name on the wire, empty if there is no callback.
func (c CallbackState) String() string {
	return [...]string{"", "CALLBACK_INPROGRESS", "CALLBACK_SUCCESS", "CALLBACK_FAIL"}[min(c, CallbackFail)]
}

// CallbackInfo is what became of a failure callback.
type CallbackInfo struct {
	State CallbackState
	// Message is the callback message.
	Message ID
	// Response is the answer to its last attempt, if there was one.
	Response *Response
}

// deadCost is the logical overhead of a dead letter in bytes.
const deadCost = 240

func (d *Dead) size() int64 {
	n := deadCost + d.Response.size() + int64(len(d.Error))
	if d.Callback.Response != nil {
		n += d.Callback.Response.size()
	}
	return n
}

// Encode writes the fields.
func (d *Dead) Encode(w *wire.Writer) {
	w.Varint(d.At)
	w.Uvarint(d.Seq)
	w.Record(d.Response.Encode)
	w.String(d.Error)
	w.Uvarint(uint64(d.Callback.State))
	d.Callback.Message.encode(w)
	encodeResponse(w, d.Callback.Response)
}

// Decode reads the fields; texts and bytes alias the input.
func (d *Dead) Decode(r *wire.Reader) {
	d.Stamp = Stamp{r.Varint(), r.Uvarint()}
	d.Response.Decode(r.Record())
	d.Error = r.Alias()
	d.Callback.State, d.Callback.Message = CallbackState(min(r.Uvarint(), uint64(CallbackFail))), decodeID(r)
	d.Callback.Response = decodeResponse(r)
}
