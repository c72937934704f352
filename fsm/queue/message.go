package queue

import (
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

// place is where a message stands; see the package's doc. Numbers are in snapshots.
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
	data []byte // the Content, coded

	state State
	place place
	// stopping: it was asked to be cancelled while an attempt is under way.
	stopping bool
	// What Content is decoded for at the end, if at all.
	hasCallback, hasFailure, isCallback, scheduled bool
	// run: it belongs to a workflow run, see run_message.go.
	run bool

	retries  uint32 // allowed
	retried  uint32 // so far
	open     uint32 // callbacks under way
	attempts uint64 // so far; the number of the current one
	queue    uint64 // number of its Queue, 0 if none
	flow     uint64 // number of its FlowKey, 0 if none

	// at is the time that the place is about: when it is due, when its lease ends, or when it was done.
	at int64
	// since is when it came to its place.
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

// Fields are those of the format.
func (l *claim) Fields(c *wire.Codec) {
	c.Uvarint(&l.Epoch)
	c.Uvarint(&l.Term)
	c.Uvarint(&l.Session)
	c.Varint(&l.started)
	c.Varint(&l.lease)
	c.Bool(&l.exclusive)
	c.String(&l.host)
}

// expiresAt is when the claim expires, in unix milliseconds.
func (c *claim) expiresAt() int64 {
	if c.exclusive {
		return c.lease + LeaseMargin
	}
	return c.lease
}

// Content is what the message is.
func (m *Message) Content() *Content {
	c := &Content{}
	wire.NewReader(m.data).Get(c)
	return c
}

// messageCost is the logical overhead of a message and its places in the indices, in bytes.
const messageCost = 320

func (m *Message) size() int64 { return messageCost + int64(len(m.data)) }

// Fields are those of the format.
func (m *Message) Fields(c *wire.Codec) {
	m.ID.Fields(c)
	m.state.field(c)
	wire.Enum(c, &m.place, places)
	c.Bool(&m.stopping)
	wire.Uint(c, &m.retries)
	wire.Uint(c, &m.retried)
	wire.Uint(c, &m.open)
	c.Uvarint(&m.attempts)
	c.Uvarint(&m.queue)
	c.Uvarint(&m.flow)
	c.Varint(&m.at)
	c.Varint(&m.since)
	c.Uvarint(&m.last)
	wire.Optional(c, &m.claim)
	c.Bytes(&m.data)
}

// cacheFlags keeps what is asked of a content most often, so that it need not be decoded for it.
func (m *Message) cacheFlags(c *Content) {
	m.hasCallback, m.hasFailure = c.Callback != nil, c.Failure != nil
	m.isCallback, m.scheduled, m.run = !c.Source.ID.IsZero(), c.Schedule != "", len(c.Run) > 0
}
