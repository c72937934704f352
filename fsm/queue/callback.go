package queue

import (
	"encoding/base64"

	"github.com/trireme-dev/trireme/fsm/env"
)

// call publishes the callback of m after an attempt, or, with d, its failure callback, and gives the callback message.
// The outcome of a callback message is told to nobody.
func (s *Store) call(e *env.Env, m *Message, n *Result, d *Dead) ID {
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
	out := s.create(e, &Content{
		URL: to.URL, Options: o, CallerIP: c.CallerIP, Body: payload(m, c, n, d), Source: Source{ID: m.ID, Failed: d != nil}, Run: c.Run,
	})
	m.open++
	return out.ID
}

// called takes in the end of a callback message: the slot of its source in a queue is free once the last one is done,
// and a dead letter keeps how its failure callback went.
func (s *Store) called(callback *Message, from Source, now int64) {
	old := s.find(from.ID)
	if old == nil {
		return
	}
	if from.Failed {
		s.answered(Stamp{old.at, old.Seq}, callback)
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

// heard writes into a dead letter what its failure callback, which was delivered, has got: no event keeps that.
func (s *Store) heard(callback *Message, p *Response) {
	if !callback.isCallback {
		return
	}
	from := callback.Content().Source
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
	s.buried += d.size() - old.size()
	s.dead.Set(t, &d)
}

// answered writes into a dead letter how its failure callback went.
func (s *Store) answered(t Stamp, callback *Message) {
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
	s.buried += d.size() - old.size()
	s.dead.Set(t, &d)
}

// payload is the body of a callback.
func payload(m *Message, c *Content, n *Result, d *Dead) []byte {
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
