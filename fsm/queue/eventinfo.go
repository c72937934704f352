package queue

import "github.com/trireme-dev/trireme/fsm/payload"

// EventInfo is an event with the message it belongs to. After the message's record is gone Content is nil.
type EventInfo struct {
	*Event
	ID      ID
	Content *Content
	// Response of the last attempt: that of the event itself, or on Failed of the attempt before it.
	Response *Response
	Error    string

	body payload.Payload // of the Content, if it is apart
}

// load completes what a filter did not need: bodies that are apart.
func (n EventInfo) load() EventInfo {
	if n.body.Len() > 0 {
		n.Content.Body = n.body.Bytes()
	}
	n.Response = n.Response.whole()
	return n
}

// Size is how many bytes the event's bodies have in an answer, before they are coded.
func (n *EventInfo) Size() int { return len(n.Content.Body) + n.Response.BodySize() }

func (s *Store) eventInfo(v *Event, m *Message) EventInfo {
	n := EventInfo{Event: v, ID: m.ID, Content: m.envelope(), body: m.apart()}
	told := v.details()
	if before, ok := s.log.Get(v.before); ok && v.State == Failed {
		told = before.details()
	}
	n.Response, n.Error = told.response, told.failure
	return n
}
