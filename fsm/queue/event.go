package queue

import "trireme/fsm/wire"

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

func (v *Event) encode(w *wire.Writer) {
	w.Varint(v.At)
	w.Uvarint(v.Seq)
	w.Uvarint(v.message)
	w.Uvarint(v.before)
	w.Uvarint(uint64(v.State))
	w.Varint(v.Next)
	w.Uvarint(v.Attempt)
	encodeResponse(w, v.Response)
	w.String(v.Error)
}

// decodeEvent reads an event; it copies what it keeps.
func decodeEvent(r *wire.Reader) *Event {
	v := &Event{Stamp: Stamp{r.Varint(), r.Uvarint()}, message: r.Uvarint(), before: r.Uvarint(), State: decodeState(r)}
	v.Next, v.Attempt = r.Varint(), r.Uvarint()
	if p := decodeResponse(r); p != nil {
		v.Response = p.clone()
	}
	v.Error = r.String()
	return v
}

func encodeResponse(w *wire.Writer, p *Response) {
	w.Record(func(w *wire.Writer) {
		if p != nil {
			p.Encode(w)
		}
	})
}

// decodeResponse reads a response that may be missing; it aliases the input.
func decodeResponse(r *wire.Reader) *Response {
	in := r.Record()
	if in.Len() == 0 {
		return nil
	}
	p := &Response{}
	p.Decode(in)
	return p
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
	s.past += v.size()
	s.trimmable += 2
}
