package queue

import (
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

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

// Fields codes the value in its wire format.
func (q *Queue) Fields(c *wire.Codec) {
	c.String(&q.Name)
	c.Uvarint(&q.no)
	c.Int(&q.Parallelism)
	c.Bool(&q.Paused)
	c.Varint(&q.Created)
	c.Varint(&q.Updated)
	c.Bool(&q.deleted)
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

// Fields codes the value in its wire format.
func (e *Endpoint) Fields(c *wire.Codec) {
	c.Text(&e.Name)
	c.Text(&e.URL)
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (g *Group) Fields(c *wire.Codec) {
	c.Text(&g.ID)
	c.Text(&g.Name)
	c.Varint(&g.Created)
	c.Varint(&g.Updated)
	wire.List(c, &g.Endpoints, 2)
	wire.List(c, &g.Header, 2)
	c.Record(g.Options.Fields)
}

// FlowKey is a flow-control key: the limits that all messages of the key share.
type FlowKey struct {
	Key string
	no  uint64
	// Parallelism is the most attempts under way, Rate the most in Period milliseconds (0 = unlimited).
	Parallelism, Rate int
	Period            int64
	// A pinned part is not changed by messages.
	PinnedParallelism, PinnedRate bool
	Paused                        bool
	// WindowStart is the start of the window of Rate, in unix milliseconds; Count counts the claims in it.
	WindowStart int64
	Count       int
	// Burst is the most tokens of a bucket in the place of windows (0 = windows). credit is what it held at the time filled.
	Burst          int
	credit, filled int64
	// live counts the messages of the key that are not done, dear those of them that cost more than 1.
	live, dear int
	// extra is the cost of the attempts under way beyond their number.
	extra int
	// opening is the key's position in the order of those that may be claimed from; zero if nothing can open it but
	// an end of an attempt, a new message or a resume.
	opening Stamp
	// used is the time of the key's last use, in unix milliseconds.
	used int64
	// idle is the time at which the key is forgotten, in unix milliseconds, 0 while it is needed.
	idle int64
}

// Fields codes the value in its wire format.
func (fk *FlowKey) Fields(c *wire.Codec) {
	fk.fields(c)
	if c.More(fk.hasMore()) { // from the level env.Files on
		fk.moreFields(c)
	}
}

func (fk *FlowKey) hasMore() bool { return fk.Burst != 0 || fk.dear != 0 || fk.extra != 0 }

func (fk *FlowKey) moreFields(c *wire.Codec) {
	c.Int(&fk.Burst)
	c.Varint(&fk.credit)
	c.Varint(&fk.filled)
	c.Int(&fk.dear)
	c.Int(&fk.extra)
}

func (fk *FlowKey) fields(c *wire.Codec) {
	c.String(&fk.Key)
	c.Uvarint(&fk.no)
	c.Int(&fk.Parallelism)
	c.Int(&fk.Rate)
	c.Varint(&fk.Period)
	c.Bool(&fk.PinnedParallelism)
	c.Bool(&fk.PinnedRate)
	c.Bool(&fk.Paused)
	c.Varint(&fk.WindowStart)
	c.Int(&fk.Count)
	c.Int(&fk.live)
	fk.opening.Fields(c)
	c.Varint(&fk.used)
	c.Varint(&fk.idle)
}

// Keys are the signing keys. Deliveries are signed with Current.
type Keys struct{ Current, Next string }

// Fields codes the value in its wire format.
func (k *Keys) Fields(c *wire.Codec) {
	c.String(&k.Current)
	c.String(&k.Next)
}

// Dead is a dead letter: a message that has failed. Its id is the time at which it failed and the message's number.
type Dead struct {
	Stamp
	// Response is the answer to the last attempt; Status 0 if there was none.
	Response Response
	Error    string
	// Callback is the outcome of the failure callback; zero if there is none.
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
func (cs CallbackState) String() string {
	return [...]string{"", "CALLBACK_INPROGRESS", "CALLBACK_SUCCESS", "CALLBACK_FAIL"}[min(cs, CallbackFail)]
}

// CallbackInfo is the outcome of a failure callback.
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

func (d *Dead) uncounted() int64 { return d.Response.uncounted() + d.Callback.Response.uncounted() }

// keep puts large bodies of a dead letter that was read in the care of k.
func (d *Dead) keep(k payload.Keeper) {
	d.Response.Keep(k)
	if d.Callback.Response != nil {
		d.Callback.Response.Keep(k)
	}
}

// whole is the dead letter with its bodies where readers look for them.
func (d *Dead) whole() *Dead {
	w := *d
	w.Response, w.Callback.Response = d.Response.Whole(), d.Callback.Response.whole()
	return &w
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (d *Dead) Fields(c *wire.Codec) {
	d.Stamp.Fields(c)
	c.Record(d.Response.Fields)
	c.Text(&d.Error)
	wire.Enum(c, &d.Callback.State, CallbackFail)
	d.Callback.Message.Fields(c)
	wire.Optional(c, &d.Callback.Response)
}
