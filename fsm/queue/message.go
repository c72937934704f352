package queue

import (
	"trireme/fsm/wire"
)

// State is a delivery state, as events tell it.
type State uint8

// The states (messages.md 10.3). Canceled is spelled as the clients spell it; see decisions 23.
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

// Final tells whether a message in this state is done.
func (s State) Final() bool { return s == Delivered || s == Failed || s == Canceled }

func decodeState(r *wire.Reader) State { return State(min(r.Uvarint(), uint64(states))) }

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
	// run: it belongs to a workflow run, see run.go.
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

// release is when the claim is given up, in unix milliseconds.
func (c *claim) release() int64 {
	if c.exclusive {
		return c.lease + LeaseMargin
	}
	return c.lease
}

// Content is what the message is.
func (m *Message) Content() *Content {
	c := &Content{}
	c.Decode(wire.NewReader(m.data))
	return c
}

// messageCost is the logical overhead of a message and its places in the indices, in bytes.
const messageCost = 320

func (m *Message) size() int64 { return messageCost + int64(len(m.data)) }

func (m *Message) encode(w *wire.Writer) {
	m.ID.encode(w)
	w.Uvarint(uint64(m.state))
	w.Uvarint(uint64(m.place))
	w.Bool(m.stopping)
	w.Uvarint(uint64(m.retries))
	w.Uvarint(uint64(m.retried))
	w.Uvarint(uint64(m.open))
	w.Uvarint(m.attempts)
	w.Uvarint(m.queue)
	w.Uvarint(m.flow)
	w.Varint(m.at)
	w.Varint(m.since)
	w.Uvarint(m.last)
	w.Record(func(w *wire.Writer) {
		if c := m.claim; c != nil {
			w.Uvarint(c.Epoch)
			w.Uvarint(c.Term)
			w.Uvarint(c.Session)
			w.Varint(c.started)
			w.Varint(c.lease)
			w.Bool(c.exclusive)
			w.String(c.host)
		}
	})
	w.Bytes(m.data)
}

// decodeMessage reads a message; it copies what it keeps.
func decodeMessage(r *wire.Reader) *Message {
	m := &Message{ID: decodeID(r), state: decodeState(r), place: place(min(r.Uvarint(), uint64(places)))}
	m.stopping = r.Bool()
	m.retries, m.retried, m.open = uint32(r.Uvarint()), uint32(r.Uvarint()), uint32(r.Uvarint())
	m.attempts, m.queue, m.flow = r.Uvarint(), r.Uvarint(), r.Uvarint()
	m.at, m.since, m.last = r.Varint(), r.Varint(), r.Uvarint()
	if in := r.Record(); in.Len() > 0 {
		m.claim = &claim{Sender: Sender{in.Uvarint(), in.Uvarint(), in.Uvarint()},
			started: in.Varint(), lease: in.Varint(), exclusive: in.Bool(), host: in.String()}
	}
	m.data = append([]byte(nil), r.Bytes()...)
	m.note(m.Content())
	return m
}

// note keeps what the state machine asks of a content most often.
func (m *Message) note(c *Content) {
	m.hasCallback, m.hasFailure = c.Callback != nil, c.Failure != nil
	m.isCallback, m.scheduled, m.run = !c.Source.ID.IsZero(), c.Schedule != "", len(c.Run) > 0
}
