package queue

import "github.com/trireme-dev/trireme/fsm/wire"

// Event is one thing that happened to a message. The configuration that clients read with every event is that of the
// message's Content.
//
// Events are many, and most have nothing to tell but their state: what only some have is apart.
type Event struct {
	// At is when it happened, in unix milliseconds; Seq is the event's number.
	Stamp
	// message is the Seq of the message's ID, before the number of the message's event before this one, 0 if none.
	message, before uint64
	State           State
	// Attempt is the number of the attempt on Active and Failing. A message has no more than this can count: each takes
	// an entry of the log.
	Attempt uint32
	detail  *eventDetail // nil: a zero one
}

// eventDetail is what the events of some states have.
type eventDetail struct {
	// next is when the next attempt is due, in unix milliseconds, on Retry.
	next int64
	// response is what the destination answered, and failure why it could not be asked, on Failing.
	response *Response
	failure  string
}

var noDetail eventDetail

func (v *Event) details() *eventDetail {
	if v.detail == nil {
		return &noDetail
	}
	return v.detail
}

// Next is when the next attempt is due, in unix milliseconds, on Retry.
func (v *Event) Next() int64 { return v.details().next }

// eventCost is the logical overhead of an event in bytes.
const eventCost = 160

func (v *Event) size() int64 {
	d := v.details()
	n := int64(eventCost + len(d.failure))
	if d.response != nil {
		n += d.response.size()
	}
	return n
}

func (v *Event) uncounted() int64 { return v.details().response.uncounted() }

// Fields are those of the format.
func (v *Event) Fields(c *wire.Codec) {
	v.Stamp.Fields(c)
	c.Uvarint(&v.message)
	c.Uvarint(&v.before)
	v.State.field(c)
	d := *v.details()
	c.Varint(&d.next)
	wire.Uint(c, &v.Attempt)
	wire.Optional(c, &d.response)
	c.String(&d.failure)
	if c.Reading() {
		v.detail = nil
		if d != noDetail {
			v.detail = &d
		}
	}
}

// record appends an event to m, which the caller stores afterwards. A message of a run has none.
func (s *Store) record(m *Message, now int64, v Event) {
	if m.run {
		m.state = v.State
		return
	}
	s.events++
	v.Stamp, v.message, v.before = Stamp{now, s.events}, m.Seq, m.last
	m.state, m.last = v.State, v.Seq
	s.log.Set(v.Seq, &v)
	s.doneBytes += v.size()
	s.uncounted += v.uncounted()
	s.trimmable += 2
}
