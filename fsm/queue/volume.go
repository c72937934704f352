package queue

import (
	"encoding/binary"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// The records of a volume are a list of texts, the messages that its events tell of, and the events. Messages are much alike, so
// that most of one is the numbers of texts.

// The fields that words of a volume are of.
const (
	wordURL byte = 'u' + iota
	wordHost
	wordPath
	wordGroup
	wordQueue
	wordSchedule
	wordLabel
	wordFlow
	wordCaller
)

// texts numbers texts from 1 on; 0 is the empty one.
type texts struct {
	no   map[string]uint64
	list wire.Writer
}

func (te *texts) of(s string) uint64 {
	if s == "" {
		return 0
	}
	n, had := te.no[s]
	if !had {
		n = uint64(len(te.no)) + 1
		te.no[s] = n
		te.list.String(s)
	}
	return n
}

// binder makes a volume of events.
type binder struct {
	volume   sealed.Volume
	texts    texts
	messages wire.Writer
	events   wire.Writer
	place    map[uint64]uint64 // of messages, by their numbers
	shared   map[uint64]uint64 // bodies that several messages have, by their numbers: places in Apart
	apart    int               // bytes of bodies that are apart
	numbers  []uint64
	words    []sealed.Word
	before   struct { // of the message and the event before
		seq         uint64
		created, at int64
	}
}

func newBinder() *binder {
	return &binder{texts: texts{no: map[string]uint64{}}, place: map[uint64]uint64{}, shared: map[uint64]uint64{}}
}

// size is about how many bytes the records have by now.
func (bi *binder) size() int { return len(bi.texts.list.B) + len(bi.messages.B) + len(bi.events.B) }

// full reports whether the volume takes no more.
func (bi *binder) full() bool { return bi.size() >= sealedBytes || bi.apart >= sealedApart }

// add puts in the next event, and its message unless it is there.
func (bi *binder) add(v *Event, m *Message) {
	place, had := bi.place[m.Seq]
	if !had {
		place = uint64(len(bi.place))
		bi.place[m.Seq] = place
		bi.numbers = append(bi.numbers, m.Seq)
		bi.addMessage(m)
	}
	if bi.volume.First == 0 {
		bi.volume.First, bi.volume.From = v.Seq, v.At
	}
	bi.volume.Last, bi.volume.To = v.Seq, v.At
	bi.volume.Tally(int(v.State))
	w, d := &bi.events, v.details()
	w.Uvarint(place)
	w.Varint(v.At - bi.before.at)
	bi.before.at = v.At
	back := uint64(0)
	if v.before != 0 {
		back = v.Seq - v.before
	}
	w.Uvarint(back)
	w.B = append(w.B, byte(v.State))
	w.Uvarint(uint64(v.Attempt))
	w.Bool(v.detail != nil)
	if v.detail == nil {
		return
	}
	w.Varint(d.next)
	w.Uvarint(bi.texts.of(d.failure))
	w.Uvarint(d.part.Seq)
	if d.part.Seq != 0 {
		w.B = binary.LittleEndian.AppendUint64(w.B, d.part.Salt)
		bi.numbers = append(bi.numbers, d.part.Seq)
	}
	w.Bool(d.response != nil)
	if d.response != nil {
		bi.addResponse(d.response)
	}
}

func (bi *binder) addResponse(r *Response) {
	w := &bi.events
	w.Varint(int64(r.Status))
	w.Uvarint(uint64(len(r.Header)))
	for _, f := range r.Header {
		w.Uvarint(bi.texts.of(f.Name))
		w.Uvarint(bi.texts.of(f.Value))
	}
	bi.addBody(w, r.Body, r.apart)
}

// addBody puts in a body, or the number of one that is apart.
func (bi *binder) addBody(w *wire.Writer, body []byte, apart payload.Payload) {
	if apart.Len() == 0 {
		w.Uvarint(0)
		w.Bytes(body)
		return
	}
	bi.volume.Apart, bi.apart = append(bi.volume.Apart, apart), bi.apart+apart.Len()
	w.Uvarint(uint64(len(bi.volume.Apart)))
}

// addMessageBody puts in the body of a message; one that several have, once.
func (bi *binder) addMessageBody(m *Message, inline []byte) {
	no := uint64(0)
	if m.body != nil {
		no = m.body.no
	}
	if at, had := bi.shared[no]; had && no != 0 {
		bi.messages.Uvarint(at)
		return
	}
	bi.addBody(&bi.messages, inline, m.apart())
	bi.shared[no] = uint64(len(bi.volume.Apart))
}

func (bi *binder) addMessage(m *Message) {
	w, c := &bi.messages, m.envelope()
	w.Varint(int64(m.Seq - bi.before.seq))
	bi.before.seq = m.Seq
	w.B = binary.LittleEndian.AppendUint64(w.B, m.Salt)
	for _, s := range [...]string{c.URL, c.API, c.Group, c.Endpoint, c.Schedule, c.CallerIP, c.Trace.Parent, c.Trace.State} {
		w.Uvarint(bi.texts.of(s))
	}
	o := c.Options // without what differs from message to message
	o.NotBefore, o.Trace.Parent, o.Trace.State = 0, "", ""
	options := wire.Encoder(nil)
	o.Fields(options)
	w.Uvarint(bi.texts.of(string(options.B())))
	w.Varint(c.NotBefore)
	w.Varint(c.Created - bi.before.created)
	bi.before.created = c.Created
	w.Varint(c.FirstAt - c.Created)
	w.Uvarint(c.Source.ID.Seq)
	if c.Source.ID.Seq != 0 {
		w.B = binary.LittleEndian.AppendUint64(w.B, c.Source.ID.Salt)
		w.Bool(c.Source.Failed)
	}
	w.Uvarint(uint64(m.attempts))
	w.Uvarint(uint64(m.retried))
	bi.addMessageBody(m, c.Body)
	bi.addWords(c)
}

func (bi *binder) addWords(c *Content) {
	put := func(field byte, text string) {
		if text != "" {
			bi.words = append(bi.words, sealed.WordOf(field, text))
		}
	}
	put(wordURL, c.URL)
	for _, host := range HostNames(c.Host()) {
		put(wordHost, host)
	}
	put(wordPath, c.Path())
	put(wordGroup, c.Group)
	put(wordQueue, c.Queue)
	put(wordSchedule, c.Schedule)
	for _, l := range c.Labels {
		put(wordLabel, l)
	}
	if c.Flow != nil {
		put(wordFlow, c.Flow.Key)
	}
	put(wordCaller, c.CallerIP)
}

// bind returns the volume, which has some events.
func (bi *binder) bind() *sealed.Volume {
	var w wire.Writer
	w.B = make([]byte, 0, bi.size()+16)
	w.Uvarint(uint64(len(bi.texts.no)))
	w.B = append(w.B, bi.texts.list.B...)
	w.Uvarint(uint64(len(bi.place)))
	w.B = append(w.B, bi.messages.B...)
	w.B = append(w.B, bi.events.B...)
	v := bi.volume // a copy, which doesn't keep the rest in memory
	v.Records, v.Sets, v.Words = payload.New(w.B, nil), []sealed.Numbers{sealed.NumbersOf(bi.numbers)}, sealed.WordsOf(bi.words)
	v.Count = int(v.Last-v.First) + 1 // events have numbers without gaps
	return &v
}
