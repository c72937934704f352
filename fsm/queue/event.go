package queue

import (
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Event is one thing that happened to a message. The configuration that clients read with every event is that of the
// message's Content.
//
// Events are many, and most have nothing to tell but their state: what only some have is apart.
type Event struct {
	// At is the time of the event, in unix milliseconds; Seq is its number.
	Stamp
	// message is the Seq of the message's ID, before the number of the message's event before this one, 0 if none.
	message, before uint64
	State           State
	// Attempt is the number of the attempt on Active and Failing. A message has no more than this can count: each takes
	// an entry of the log.
	Attempt uint32
	detail  *eventDetail // nil: a zero one
}

// eventDetail holds the fields that only the events of some states have.
type eventDetail struct {
	// next is the time at which the next attempt is due, in unix milliseconds, on Retry.
	next int64
	// response is the destination's answer on Failing; failure is the reason if there is none.
	response *Response
	failure  string
	// part is the publication of a batch that alone the event is about; zero for all.
	part ID
}

var noDetail eventDetail

func (e *Event) details() *eventDetail {
	if e.detail == nil {
		return &noDetail
	}
	return e.detail
}

// Next returns the time at which the next attempt is due, in unix milliseconds, on Retry.
func (e *Event) Next() int64 { return e.details().next }

// Part returns the publication of a batch that alone the event is about, zero if it is about all.
func (e *Event) Part() ID { return e.details().part }

// eventCost is the logical overhead of an event in bytes.
const eventCost = 160

func (e *Event) size() int64 {
	d := e.details()
	n := int64(eventCost + len(d.failure))
	if d.response != nil {
		n += d.response.size()
	}
	return n
}

func (e *Event) uncounted() int64 { return e.details().response.uncounted() }

// Fields codes the value in its wire format.
func (e *Event) Fields(c *wire.Codec) {
	e.Stamp.Fields(c)
	c.Uvarint(&e.message)
	c.Uvarint(&e.before)
	e.State.field(c)
	d := *e.details()
	c.Varint(&d.next)
	wire.Uint(c, &e.Attempt)
	wire.Optional(c, &d.response)
	c.String(&d.failure)
	if c.More(!d.part.IsZero()) { // from the level env.Files on
		d.part.Fields(c)
	}
	if c.Reading() {
		e.detail = nil
		if d != noDetail {
			e.detail = &d
		}
	}
}

// eventLog holds the events of all messages. The oldest are in volumes.
type eventLog struct {
	byNo     *cow.BTree[uint64, *Event]
	newest   uint64 // the number of the newest event
	past     sealed.Volumes
	sealedAt uint64 // the index of the log's entry that made a volume last
}

func (el *eventLog) fork() eventLog {
	return eventLog{byNo: el.byNo.Snapshot(), newest: el.newest, past: el.past.Fork(), sealedAt: el.sealedAt}
}

// append gives an event its number and time and stores it.
func (el *eventLog) append(v *Event, now int64) {
	el.newest++
	v.Stamp = Stamp{now, el.newest}
	el.byNo.Set(v.Seq, v)
}

// record appends an event to m, which the caller stores afterwards. A message of a run has none.
func (s *Store) record(m *Message, now int64, v Event) {
	if m.run {
		m.state = v.State
		return
	}
	v.message, v.before = m.Seq, m.last
	s.events.append(&v, now)
	m.state, m.last = v.State, v.Seq
	s.memory.done += v.size()
	s.memory.uncounted += v.uncounted()
	s.trimmable += 2
}
