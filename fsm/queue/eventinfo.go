package queue

import "github.com/trireme-dev/trireme/fsm/payload"

// EventInfo is an event with the message it belongs to. After the message's record is gone Content is nil.
type EventInfo struct {
	*Event
	ID      ID
	Content *Content
	// Batch is the message that delivers the publication that the event is about; zero for any other event.
	Batch ID
	// Response of the last attempt: that of the event itself, or on Failed of the attempt before it.
	Response *Response
	Error    string
	// Course is told with the last event of a message, if these alone are asked for.
	Course *Course

	body payload.Payload // of the Content, if it is apart
}

// concerns reports whether an event is one of a message, or of a publication in a batch: those of the batch are, those of the other
// publications in it are not.
func (ei *EventInfo) concerns(id ID) bool { return ei.Batch.IsZero() || ei.ID == id || ei.Batch == id }

// standsForAll has the event of a publication in a batch tell of the batch.
func (ei *EventInfo) standsForAll() {
	if !ei.Batch.IsZero() {
		ei.ID, ei.Batch = ei.Batch, ID{}
	}
}

// load completes what a filter did not need: bodies that are apart.
func (ei EventInfo) load(p Page) EventInfo {
	if ei.body.Len() > 0 && !p.Last {
		ei.Content.Body = ei.body.Bytes()
	}
	ei.Response = ei.Response.whole()
	return ei
}

// Size returns the bytes of the event's bodies in an answer, before they are coded.
func (ei *EventInfo) Size() int { return len(ei.Content.Body) + ei.Response.BodySize() }
