package queue

import (
	"encoding/base64"

	"github.com/trireme-dev/trireme/fsm/env"
)

// What a callback leaves out for want of memory, in the order in which it does.
const (
	noAnswer = "memory limit reached: the callback was made without the answer's body and header"
	noBodies = "memory limit reached: the callback was made without bodies and the answer's header"
	noCall   = "memory limit reached: the callback after this attempt was not made"
)

// publishCallback publishes the callback of m after an attempt, or, with d, its failure callback. It returns the id of the
// callback message, zero if there is none, and what was left out for want of memory. A callback message has no callbacks of
// its own. last: no other attempt follows, and what m has reserved is for this callback.
func (s *Store) publishCallback(e *env.Env, m *Message, n *Result, d *Dead, last bool) (id ID, lacks string) {
	kind := callsBack
	if d != nil {
		kind = callsFailure
	}
	if m.isCallback || m.calls&kind == 0 {
		return ID{}, ""
	}
	c := m.envelope()
	to := c.Callback
	if d != nil {
		to = c.Failure
	}
	o := to.Options
	o.Callback, o.Failure, o.Queue = nil, nil, ""
	if o.Given&GivenRetries == 0 {
		o.Retries, o.Given = c.Retries, o.Given|GivenRetries
	}
	if Value(o.Header, "Content-Type") == "" {
		o.Header = append([]Field{{"Content-Type", "application/json"}}, o.Header...)
	}
	o = o.InTrace(c.Trace)
	if last { // what was reserved is for this one
		s.memory.live -= m.reserved()
		m.calls &^= kind
		s.memory.live += m.reserved()
	}
	if s.limited() {
		if n, lacks = s.fitCallback(m, c, n, headSize(&o, to.URL, c.CallerIP)); lacks == noCall && !last {
			return ID{}, lacks
		} else if lacks == noCall {
			lacks = noBodies
		}
	}
	if lacks == "" || lacks == noAnswer {
		c = m.Content()
	}
	out := s.create(e, &Content{
		URL: to.URL, Options: o, CallerIP: c.CallerIP, Body: callbackBody(m, c, n, d), Source: Source{ID: m.ID, Failed: d != nil}, Run: c.Run,
	}, nil)
	m.open++
	return out.ID, lacks
}

// fitCallback returns the part of a result that a callback has room for, and the part that it lacks: noCall if there is no room
// even for the least of it, noBodies if it must do without the body of m. head is the memory of the callback's own content.
func (s *Store) fitCallback(m *Message, c *Content, n *Result, head int64) (*Result, string) {
	frame := int64(512+len(n.Error)) + 2*headerSize(c.Header) + textsSize(c.URL, c.Group, c.Endpoint, c.Schedule, c.Queue)
	source := len(c.Body) + m.apart().Len()
	room := func(body int64) bool {
		return s.fits(messageGrowth(head, &Options{}) + countedOf(int(body)))
	}
	whole := frame + int64(base64.StdEncoding.EncodedLen(n.Response.BodySize())) + 2*headerSize(n.Response.Header)
	sourceBody := int64(base64.StdEncoding.EncodedLen(source))
	if room(whole + sourceBody) {
		return n, ""
	}
	bare := *n
	bare.Response = Response{Status: n.Response.Status}
	switch {
	case room(frame + sourceBody):
		return &bare, noAnswer
	case room(frame):
		return &bare, noBodies
	}
	return &bare, noCall
}

// callbackFinished records the end of a callback message. Its source keeps its slot in a queue until the last of its
// callbacks is done; a dead letter records how its failure callback went.
func (s *Store) callbackFinished(callback *Message, from Source, now int64) {
	old := s.find(from.ID)
	if old == nil {
		return
	}
	if from.Failed {
		s.storeCallbackState(Stamp{old.at, old.Seq}, callback)
	}
	m := copyOf(old)
	if m.open > 0 {
		m.open--
	}
	s.store(m)
	if m.open == 0 && s.places.holding.Delete(member{m.queue, m.Seq}) {
		s.admit(m.queue, now)
		s.leaveSingleton(m)
	}
	s.discard(m)
}

// storeCallbackResponse records the response to a delivered failure callback in its dead letter: no event keeps it.
func (s *Store) storeCallbackResponse(callback *Message, p *Response) {
	if !callback.isCallback {
		return
	}
	from := callback.envelope().Source
	m := s.find(from.ID)
	if !from.Failed || m == nil {
		return
	}
	t := Stamp{m.at, m.Seq}
	old, ok := s.dead.Get(t)
	if !ok || old.Callback.Message != callback.ID {
		return
	}
	d := *old
	d.Callback.Response = s.answer(p)
	s.setDead(old, &d)
}

// storeCallbackState records how a failure callback ended in its dead letter.
func (s *Store) storeCallbackState(t Stamp, callback *Message) {
	old, ok := s.dead.Get(t)
	if !ok || old.Callback.Message != callback.ID {
		return
	}
	d := *old
	d.Callback.State = CallbackFail
	if callback.state == Delivered {
		d.Callback.State = CallbackSuccess
	}
	if p, ok := s.dead.Get(Stamp{callback.at, callback.Seq}); ok {
		d.Callback.Response = &p.Response
	}
	s.setDead(old, &d)
}

// callbackBody is the body of a callback.
func callbackBody(m *Message, c *Content, n *Result, d *Dead) []byte {
	encode := base64.StdEncoding.EncodeToString
	j := object{b: make([]byte, 0, 512+4*(len(n.Response.Body)+len(c.Body))/3)}
	j.open()
	j.number("status", int64(n.Response.Status))
	j.header("header", n.Response.Header)
	j.text("body", encode(n.Response.Body))
	if n.Error != "" {
		j.text("error", n.Error)
	}
	if m.retried > 0 {
		j.number("retried", int64(m.retried))
	}
	j.number("maxRetries", int64(m.retries))
	switch {
	case d == nil:
	case d.Stamp == Stamp{}: // no dead letter: the message waits
		j.text("paused", d.Error)
	default:
		j.text("dlqId", d.Stamp.String())
	}
	j.text("sourceMessageId", m.ID.String())
	j.optional("topicName", c.Group)
	j.optional("endpointName", c.Endpoint)
	j.optional("scheduleId", c.Schedule)
	j.optional("queueName", c.Queue)
	j.text("url", c.URL)
	j.text("method", c.method())
	j.header("sourceHeader", c.Header)
	j.text("sourceBody", encode(c.Body))
	j.number("notBefore", c.FirstAt)
	j.number("createdAt", c.Created)
	j.optional("callerIP", c.CallerIP)
	j.close()
	return j.b
}

// method is the method of the delivery.
func (co *Content) method() string {
	if co.Method == "" {
		return "POST"
	}
	return co.Method
}
