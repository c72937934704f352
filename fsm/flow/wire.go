package flow

import (
	"trireme/fsm/queue"
	"trireme/fsm/wire"
)

// some is b, nil if it is empty.
func some(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

func encodeID(w *wire.Writer, id queue.ID) { w.Uvarint(id.Seq); w.Uvarint(id.Salt) }

func decodeID(r *wire.Reader) queue.ID { return queue.ID{Seq: r.Uvarint(), Salt: r.Uvarint()} }

func encodeStamp(w *wire.Writer, t queue.Stamp) { w.Varint(t.At); w.Uvarint(t.Seq) }

func decodeStamp(r *wire.Reader) queue.Stamp { return queue.Stamp{At: r.Varint(), Seq: r.Uvarint()} }

func encodeAttempts(w *wire.Writer, list []Attempt) {
	w.Uvarint(uint64(len(list)))
	for i := range list {
		w.Record(list[i].Response.Encode)
		w.String(list[i].Error)
		w.Varint(list[i].At)
	}
}

func decodeAttempts(r *wire.Reader) []Attempt {
	n := r.Count(3)
	if n == 0 {
		return nil
	}
	list := make([]Attempt, n)
	for i := range list {
		list[i].Response.Decode(r.Record())
		list[i].Error, list[i].At = r.Alias(), r.Varint()
	}
	return list
}

func encodeRefusal(w *wire.Writer, e *queue.Error) {
	w.Bool(e != nil)
	if e != nil {
		w.String(e.Code)
		w.String(e.Text)
	}
}

func decodeRefusal(r *wire.Reader) *queue.Error {
	if !r.Bool() {
		return nil
	}
	return &queue.Error{Code: r.String(), Text: r.String()}
}
