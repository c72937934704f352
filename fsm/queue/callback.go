package queue

import (
	"encoding/base64"

	"github.com/trireme-dev/trireme/fsm/env"
)

// publishCallback publishes the callback of m after an attempt, or, with d, its failure callback, and returns the id of
// the callback message. A callback message has no callbacks of its own.
func (s *Store) publishCallback(e *env.Env, m *Message, n *Result, d *Dead) ID {
	if m.isCallback || (d == nil && !m.hasCallback) || (d != nil && !m.hasFailure) {
		return ID{}
	}
	c := m.Content()
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
	out := s.create(e, &Content{
		URL: to.URL, Options: o, CallerIP: c.CallerIP, Body: callbackBody(m, c, n, d), Source: Source{ID: m.ID, Failed: d != nil}, Run: c.Run,
	})
	m.open++
	return out.ID
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
	m := edit(old)
	if m.open > 0 {
		m.open--
	}
	s.store(m)
	if m.open == 0 && s.holding.Delete(member{m.queue, m.Seq}) {
		s.admit(m.queue, now)
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
	d.Callback.Response = p.clone()
	d.Callback.Response.Keep(s.keeper)
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
	if d != nil {
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
func (c *Content) method() string {
	if c.Method == "" {
		return "POST"
	}
	return c.Method
}
