package queue

import "github.com/trireme-dev/trireme/fsm/wire"

// Event is one thing that happened to a message. The configuration that clients read with every event is that of the
// message's Content.
type Event struct {
	// At is when it happened, in unix milliseconds; Seq is the event's number.
	Stamp
	// message is the Seq of the message's ID, before the number of the message's event before this one, 0 if none.
	message, before uint64
	State           State
	// Next is when the next attempt is due, in unix milliseconds, on Retry.
	Next int64
	// Attempt is the number of the attempt on Active and Failing.
	Attempt uint64
	// Response is what the destination answered, and Error why it could not be asked, on Failing.
	Response *Response
	Error    string
}

// eventCost is the logical overhead of an event in bytes.
const eventCost = 160

func (v *Event) size() int64 {
	n := int64(eventCost + len(v.Error))
	if v.Response != nil {
		n += v.Response.size()
	}
	return n
}

func (v *Event) uncounted() int64 { return v.Response.uncounted() }

// Fields are those of the format.
func (v *Event) Fields(c *wire.Codec) {
	v.Stamp.Fields(c)
	c.Uvarint(&v.message)
	c.Uvarint(&v.before)
	v.State.field(c)
	c.Varint(&v.Next)
	c.Uvarint(&v.Attempt)
	wire.Optional(c, &v.Response)
	c.String(&v.Error)
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
