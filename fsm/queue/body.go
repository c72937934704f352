package queue

import (
	"bytes"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// body is bytes of one message, or of several: those of one publication to a URL group have it once, in memory, on the disk, in
// snapshots and in what they count.
type body struct {
	payload.Payload
	no uint64 // in Store.shared; 0 if one message alone has it
}

// sharedBody is a body and how many messages have it.
type sharedBody struct {
	*body
	messages int
}

// share makes a body that several messages are about to get. It counts as soon as the first has it.
func (s *Store) share(b []byte) *body {
	return &body{Payload: payload.New(bytes.Clone(b), s.keeper), no: s.next()}
}

// hold counts one message more that has the body of m, if that is one of several.
func (s *Store) hold(m *Message) {
	if m.body == nil || m.body.no == 0 {
		return
	}
	b, _ := s.shared.Get(m.body.no)
	if b.messages == 0 {
		b.body = m.body
		s.memory.fixed += int64(b.Len())
		s.memory.uncounted += b.Uncounted()
	}
	b.messages++
	s.shared.Set(b.no, b)
}

// release counts one message less that has the body of m, and forgets the body with the last.
func (s *Store) release(m *Message) {
	if m.body == nil || m.body.no == 0 {
		return
	}
	b, _ := s.shared.Get(m.body.no)
	if b.messages--; b.messages > 0 {
		s.shared.Set(b.no, b)
		return
	}
	s.shared.Delete(b.no)
	s.memory.fixed -= int64(b.Len())
	s.memory.uncounted -= b.Uncounted()
}

// withoutBody is m as it is saved behind another message that has its body too.
func (m *Message) withoutBody() *Message {
	c := *m
	c.body = &body{no: m.body.no}
	return &c
}

// loadedBody is the body of a message that is being loaded, if it is one of several: it came with the first of them.
func (s *Store) loadedBody(c *Content) *body {
	switch b, had := s.shared.Get(c.kept.body); {
	case c.kept.body == 0:
		return nil
	case had:
		return b.body
	}
	return &body{Payload: payload.New(bytes.Clone(c.Body), s.keeper), no: c.kept.body}
}
