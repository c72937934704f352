package queue

import (
	"bytes"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// State is a delivery state, as events tell it.
type State uint8

// The states. Canceled is spelled as the clients spell it, with one L: two existing clients fail on the other spelling.
const (
	Created State = iota
	Active
	Retry
	Failing
	Delivered
	Failed
	CancelRequested
	Canceled
	states
)

var stateNames = [states]string{"CREATED", "ACTIVE", "RETRY", "ERROR", "DELIVERED", "FAILED", "CANCEL_REQUESTED", "CANCELED"}

// String is the state's name on the wire.
func (s State) String() string {
	if s >= states {
		return "UNKNOWN"
	}
	return stateNames[s]
}

// Final reports whether a message in this state is done.
func (s State) Final() bool { return s == Delivered || s == Failed || s == Canceled }

func (s *State) field(c *wire.Codec) { wire.Enum(c, s, states) }

// place is the index that a message is in; see the package's doc. Numbers are in snapshots.
type place uint8

const (
	placeBacklog place = iota
	placeDue
	placeWaiting
	placeParked
	placeActive
	placeDone
	places
)

// Message is the part of a message that changes. A stored one is never modified: a change replaces it.
type Message struct {
	ID
	head payload.Payload // the Content, coded, without its body if that is apart
	body *body           // the body, if it has payload.Apart bytes or more; nil otherwise

	state State
	place place
	// stopping: it was asked to be cancelled while an attempt is under way.
	stopping bool
	// What Content is decoded for, if at all.
	calls                 calls
	isCallback, scheduled bool
	// run: it belongs to a workflow run, see run_message.go.
	run bool
	// marks are those of its Precedence.
	marks marks

	retries  uint32 // allowed
	retried  uint32 // so far
	open     uint32 // callbacks under way
	attempts uint32 // so far; the number of the current one
	queue    uint64 // number of its Queue, 0 if none
	flow     uint64 // number of its FlowKey, 0 if none

	// at is the time that the place is about: when it is due, when its lease ends, or when it was done.
	at int64
	// since is the time at which it came to its place.
	since int64
	// last is the number of its newest event.
	last  uint64
	claim *claim
}

// claim is an attempt under way.
type claim struct {
	Sender
	started int64
	lease   int64
	// exclusive: what it belongs to is delivered one at a time, so that the claim outlives its lease by LeaseMargin and
	// its sender's term.
	exclusive bool
	host      string
}

// Fields codes the value in its wire format.
func (cl *claim) Fields(c *wire.Codec) {
	c.Uvarint(&cl.Epoch)
	c.Uvarint(&cl.Term)
	c.Uvarint(&cl.Session)
	c.Varint(&cl.started)
	c.Varint(&cl.lease)
	c.Bool(&cl.exclusive)
	c.String(&cl.host)
}

// expiresAt returns the time at which the claim expires, in unix milliseconds.
func (cl *claim) expiresAt() int64 {
	if cl.exclusive {
		return cl.lease + LeaseMargin
	}
	return cl.lease
}

// Content returns the part of the message that its publication settled.
func (m *Message) Content() *Content {
	c := m.envelope()
	if m.body != nil {
		c.Body = m.body.Bytes()
	}
	return c
}

// apart is the body, if it is apart; otherwise it is empty.
func (m *Message) apart() payload.Payload {
	if m.body == nil {
		return payload.Payload{}
	}
	return m.body.Payload
}

// envelope is Content without a body that is apart, which may have to be read from the disk: what applies want is in it.
func (m *Message) envelope() *Content {
	c := &Content{}
	wire.NewReader(m.head.Bytes()).Get(c)
	return c
}

// setContent stores c in the message, which is new, in the care of k; with a body that several messages have if it is not nil.
func (m *Message) setContent(c *Content, shared *body, k payload.Keeper) {
	m.cacheFlags(c)
	head := *c
	head.kept.body, m.body = 0, nil
	switch {
	case shared != nil:
		m.body, head.Body, head.kept.body = shared, nil, shared.no
	case len(c.Body) >= payload.Apart:
		m.body, head.Body = &body{Payload: payload.New(bytes.Clone(c.Body), k)}, nil
	}
	w := wire.Writer{B: make([]byte, 0, 96+len(c.URL)+len(head.Body)+int(headerSize(c.Header)))}
	w.Put(&head)
	m.keepHead(append(make([]byte, 0, len(w.B)), w.B...), k)
}

// keepHead stores the coded content b without a body that is apart.
func (m *Message) keepHead(b []byte, k payload.Keeper) {
	if len(b) < minHeadApart {
		k = nil
	}
	m.head = payload.New(b, k)
}

// minHeadApart is the length from which on all but the body has a keeper, too: every claim reads it.
const minHeadApart = 4 << 10

// messageCost is the logical overhead of a message and its places in the indices, in bytes.
const messageCost = 320

// size is the logical size in bytes: with all of the Content, coded, but for a body that other messages have too.
func (m *Message) size() int64 {
	n := messageCost + int64(m.head.Len())
	if m.body != nil && m.body.no == 0 {
		b := m.body.Len()
		n += int64(wire.SizeOf(uint64(b)) - wire.SizeOf(0) + b)
	}
	return n
}

// uncounted returns the bytes of size that do not count as memory.
func (m *Message) uncounted() int64 {
	if m.body == nil || m.body.no != 0 {
		return 0
	}
	return m.body.Uncounted()
}

// Fields codes the value in its wire format.
func (m *Message) Fields(c *wire.Codec) {
	m.ID.Fields(c)
	m.state.field(c)
	wire.Enum(c, &m.place, places)
	c.Bool(&m.stopping)
	wire.Uint(c, &m.retries)
	wire.Uint(c, &m.retried)
	wire.Uint(c, &m.open)
	wire.Uint(c, &m.attempts)
	c.Uvarint(&m.queue)
	c.Uvarint(&m.flow)
	c.Varint(&m.at)
	c.Varint(&m.since)
	c.Uvarint(&m.last)
	wire.Optional(c, &m.claim)
	m.contentField(c)
}

// contentField is the coded Content. What is read stands in head, body and all, until Load splits it. In a snapshot that
// names payloads the body follows the rest, if it is apart.
func (m *Message) contentField(c *wire.Codec) {
	switch {
	case c.Reading() && c.Reader().Refers(), !c.Reading() && c.Writer().References != nil:
		m.splitContentField(c)
	case c.Reading():
		m.body = nil
		m.head.Field(c)
	case m.body == nil:
		m.head.Field(c)
	case c.Writer().Digests:
		m.head.Field(c)
		m.body.Field(c)
	default:
		c.Writer().PutRecord(m.Content())
	}
}

// splitContentField is the coded Content without a body that is apart, whether there is one, and the body.
func (m *Message) splitContentField(c *wire.Codec) {
	head, apart := m.head.Bytes(), m.body != nil
	c.Bytes(&head)
	c.Bool(&apart)
	if c.Reading() {
		m.head, m.body = payload.New(head, nil), nil
		if apart {
			m.body = &body{}
		}
	}
	if apart {
		m.body.Field(c)
	}
}

// calls says which callbacks a message has, and what else its content is decoded for.
type calls uint8

const (
	callsBack    calls = 1 << iota // after each attempt
	callsFailure                   // when it has failed
	// reserves: what its callbacks need at least is counted from its publication on, see Message.reserved.
	reserves
	// gathers: it delivers what publications of its key bring until its first attempt; isSingleton: it is the only live one of its key.
	gathers
	isSingleton
	// pausesAtEnd: it pauses its queue or its flow-control key when its attempts are used up.
	pausesAtEnd
)

// cacheFlags keeps what is asked of a content most often, so that it need not be decoded for it.
func (m *Message) cacheFlags(c *Content) {
	m.calls = 0
	if c.Callback != nil {
		m.calls |= callsBack
	}
	if c.Failure != nil {
		m.calls |= callsFailure
	}
	if c.kept.reserves {
		m.calls |= reserves
	}
	m.marks = marksOf(&c.Options)
	if c.Gather.waits() {
		m.calls |= gathers
	}
	if c.Gather.isSingleton() {
		m.calls |= isSingleton
	}
	if c.OnFailure == Pause {
		m.calls |= pausesAtEnd
	}
	m.isCallback, m.scheduled, m.run = !c.Source.ID.IsZero(), c.Schedule != "", len(c.Run) > 0
}
