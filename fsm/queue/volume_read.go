package queue

import (
	"encoding/binary"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// pastMessage is a message as the events of a volume tell of it.
type pastMessage struct {
	ID
	content Content         // without a body that is apart
	body    payload.Payload // if it is apart
	// attempts and retried are what they were when the volume was made.
	attempts, retried uint32
}

// opened is a volume whose records have been read.
type opened struct {
	*sealed.Volume
	events   []Event
	of       []int // the places of their messages
	messages []pastMessage
}

// opener reads the records of a volume.
type opener struct {
	r       *wire.Reader
	texts   []string
	options map[string]*Options // that were read, by their text
	volume  *sealed.Volume
	broken  bool
}

// open reads the records of a volume: of one that is damaged, none.
func open(v *sealed.Volume) *opened {
	op := &opener{r: wire.NewReader(v.Records.Bytes()), options: map[string]*Options{}, volume: v}
	o := &opened{Volume: v}
	op.texts = make([]string, 1, 1+op.r.Count(1))
	for range cap(op.texts) - 1 {
		op.texts = append(op.texts, op.r.Alias())
	}
	o.messages = make([]pastMessage, op.r.Count(minPastMessage))
	op.readMessages(o.messages)
	n := v.Count
	if op.broken || op.r.Err() != nil || n > op.r.Len() {
		return &opened{Volume: v}
	}
	o.events, o.of = make([]Event, n), make([]int, n)
	op.readEvents(o)
	if op.broken || op.r.Done() != nil {
		return &opened{Volume: v}
	}
	return o
}

// minPastMessage is the least number of bytes of a message in a volume.
const minPastMessage = 26

func (op *opener) text() string {
	n := op.r.Uvarint()
	if n >= uint64(len(op.texts)) {
		op.broken = true
		return ""
	}
	return op.texts[n]
}

func (op *opener) salt() uint64 { return binary.LittleEndian.Uint64(op.r.Fixed(8)) }

// body reads a body, or finds the one that is apart.
func (op *opener) body() ([]byte, payload.Payload) {
	n := op.r.Uvarint()
	switch {
	case n == 0:
		if b := op.r.Bytes(); len(b) > 0 {
			return b, payload.Payload{}
		}
		return nil, payload.Payload{}
	case n > uint64(len(op.volume.Apart)):
		op.broken = true
		return nil, payload.Payload{}
	}
	return nil, op.volume.Apart[n-1]
}

// optionsOf returns the options of a text. Most messages have those of another.
func (op *opener) optionsOf(text string) *Options {
	o, had := op.options[text]
	if !had {
		o = &Options{}
		c := wire.Decoder([]byte(text))
		o.Fields(c)
		op.broken = op.broken || c.Done() != nil
		op.options[text] = o
	}
	return o
}

func (op *opener) readMessages(list []pastMessage) {
	var seq uint64
	var created int64
	for i := range list {
		m := &list[i]
		c := &m.content
		seq += uint64(op.r.Varint())
		m.ID = ID{seq, op.salt()}
		var parent, state string
		for _, s := range [...]*string{&c.URL, &c.API, &c.Group, &c.Endpoint, &c.Schedule, &c.CallerIP, &parent, &state} {
			*s = op.text()
		}
		c.Options = *op.optionsOf(op.text())
		c.Trace = TraceContext{Parent: parent, State: state}
		c.NotBefore = op.r.Varint()
		created += op.r.Varint()
		c.Created, c.FirstAt = created, created+op.r.Varint()
		if c.Source.ID.Seq = op.r.Uvarint(); c.Source.ID.Seq != 0 {
			c.Source.ID.Salt = op.salt()
			c.Source.Failed = op.r.Bool()
		}
		m.attempts, m.retried = uint32(op.r.Uvarint()), uint32(op.r.Uvarint())
		c.Body, m.body = op.body()
		if op.broken || op.r.Err() != nil {
			return
		}
	}
}

func (op *opener) readEvents(o *opened) {
	at := int64(0)
	for i := range o.events {
		v := &o.events[i]
		place := op.r.Uvarint()
		if place >= uint64(len(o.messages)) {
			op.broken = true
			return
		}
		o.of[i] = int(place)
		at += op.r.Varint()
		v.Stamp = Stamp{at, o.First + uint64(i)}
		v.message = o.messages[place].Seq
		if back := op.r.Uvarint(); back > 0 && back < v.Seq {
			v.before = v.Seq - back
		}
		if v.State = State(op.r.Fixed(1)[0]); v.State >= states {
			op.broken = true
			return
		}
		v.Attempt = uint32(op.r.Uvarint())
		if op.r.Bool() {
			v.detail = op.detail()
		}
	}
}

func (op *opener) detail() *eventDetail {
	d := &eventDetail{next: op.r.Varint(), failure: op.text()}
	if d.part.Seq = op.r.Uvarint(); d.part.Seq != 0 {
		d.part.Salt = op.salt()
	}
	if !op.r.Bool() {
		return d
	}
	d.response = &Response{Status: int(op.r.Varint())}
	for range op.r.Count(2) {
		d.response.Header = append(d.response.Header, Field{op.text(), op.text()})
	}
	d.response.Body, d.response.apart = op.body()
	return d
}
