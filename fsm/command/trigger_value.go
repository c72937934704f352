package command

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// maxTold is the most logical bytes of a value that a trigger tells.
const maxTold = 64 << 10

// fired is a change that sets a trigger off.
type fired struct {
	tx *Tx
	t  *queue.Trigger
	occurrence
	no uint64
}

// told is a value as a trigger tells it: its text, or JSON of a value with elements, or why it is left out.
type told struct {
	text    string
	json    bool
	omitted string
	none    bool // there is no value
}

// before and after are the values before and after the change, if they are asked for.
func (f *fired) before() told {
	if f.tx.former == nil {
		return told{none: true}
	}
	return f.tx.tellValue(f.tx.former.Last(f.tx.Env, []byte(f.key)))
}

func (f *fired) after() told { return f.tx.tellValue(f.tx.DB.Peek(f.tx.Env, []byte(f.key))) }

// tellValue is the value of an object.
func (tx *Tx) tellValue(o *keyspace.Object) told {
	switch {
	case o == nil:
		return told{none: true}
	case o.Size() > maxTold:
		return told{omitted: "size"}
	case o.Type() == keyspace.String:
		return told{text: o.Text()}
	}
	var j valueWriter
	switch d := o.Data().(type) {
	case *keyspace.Fields:
		j.object(d, tx)
	case *keyspace.Members:
		var names []string
		d.All(func(name string) bool {
			names = append(names, name)
			return true
		})
		slices.Sort(names) // sets have no order that a restore keeps
		for i := 0; i < len(names) && j.element(names[i]); i++ {
		}
	case *keyspace.ZSet:
		d.Each(0, func(s keyspace.Scored) bool {
			j.comma('[')
			j.b = append(j.b, '[')
			j.string(s.Member)
			j.b = append(j.b, ',')
			j.score(s.Score)
			j.b = append(j.b, ']')
			return !j.binary
		})
	default:
		return tx.tellOther(o)
	}
	if j.binary {
		return told{omitted: "binary"}
	}
	return told{text: string(j.end()), json: true}
}

// tellOther is the value of an object with elements of other kinds.
func (tx *Tx) tellOther(o *keyspace.Object) told {
	switch d := o.Data().(type) {
	case *keyspace.Elements:
		var j valueWriter
		for i := 0; i < d.Len() && j.element(d.At(i)); i++ {
		}
		if j.binary {
			return told{omitted: "binary"}
		}
		return told{text: string(j.end()), json: true}
	case *keyspace.Document:
		text, err := jsondoc.Text(d.Root())
		if err != nil {
			return told{omitted: "size"}
		}
		return told{text: text, json: true}
	}
	return told{omitted: "type"}
}

// valueWriter writes a value with elements as JSON.
type valueWriter struct {
	b      []byte
	close  byte
	binary bool // a part of it is not valid UTF-8
}

// comma begins an element of a list that open begins.
func (w *valueWriter) comma(open byte) {
	if len(w.b) > 0 {
		w.b = append(w.b, ',')
		return
	}
	w.b = append(w.b, open)
	w.close = open + 2 // which closes [ and {
}

func (w *valueWriter) string(s string) {
	w.binary = w.binary || !utf8.ValidString(s) // runes: JSON is UTF-8
	w.b = jsondoc.AppendString(w.b, s)
}

func (w *valueWriter) element(s string) (more bool) {
	w.comma('[')
	w.string(s)
	return !w.binary
}

func (w *valueWriter) object(d *keyspace.Fields, tx *Tx) {
	w.close = '}'
	var pairs [][2]string
	d.All(tx.Time, func(name, value string) bool {
		pairs = append(pairs, [2]string{name, value})
		return true
	})
	slices.SortFunc(pairs, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	for _, p := range pairs {
		w.comma('{')
		w.string(p[0])
		w.b = append(w.b, ':')
		w.string(p[1])
	}
	if len(w.b) == 0 {
		w.b = append(w.b, '{')
	}
}

// score writes a score: as a number if JSON has it, as a text otherwise.
func (w *valueWriter) score(f float64) {
	text := reply.FormatDouble(f)
	if c := text[len(text)-1]; c < '0' || c > '9' { // inf
		w.string(text)
		return
	}
	w.b = append(w.b, text...)
}

func (w *valueWriter) end() []byte {
	if len(w.b) == 0 {
		return []byte("[]")
	}
	return append(w.b, w.close)
}

// json returns the change as the body of a message or of a run.
func (f *fired) json() []byte {
	b := append(make([]byte, 0, 256), `{"trigger":`...)
	b = jsondoc.AppendString(b, f.t.Name)
	b = strconv.AppendUint(append(b, `,"number":`...), f.no, 10)
	b = jsondoc.AppendString(append(b, `,"event":`...), f.event)
	b = appendMember(b, "key", f.key)
	b = jsondoc.AppendString(append(b, `,"type":`...), f.tx.DB.Peek(f.tx.Env, []byte(f.key)).Type().String())
	b = strconv.AppendInt(append(b, `,"at":`...), f.tx.Now, 10)
	if f.t.Old {
		b = appendTold(b, "old", f.before())
	}
	if f.t.New {
		b = appendTold(b, "new", f.after())
	}
	return append(b, '}')
}

// appendMember writes a member; one that is not valid UTF-8 in Base64, under the name with Base64 behind it.
func appendMember(b []byte, name, text string) []byte {
	b = append(append(b, ',', '"'), name...)
	if !utf8.ValidString(text) { // runes: JSON is UTF-8
		b = append(b, `Base64":"`...)
		return append(base64.StdEncoding.AppendEncode(b, []byte(text)), '"')
	}
	return jsondoc.AppendString(append(b, `":`...), text)
}

func appendTold(b []byte, name string, v told) []byte {
	switch {
	case v.omitted != "":
		return jsondoc.AppendString(append(append(append(b, ',', '"'), name...), `Omitted":`...), v.omitted)
	case v.none:
		return append(append(append(b, ',', '"'), name...), `":null`...)
	case v.json:
		return append(append(append(append(b, ',', '"'), name...), `":`...), v.text...)
	}
	return appendMember(b, name, v.text)
}

// append adds the entry of a change to the stream of its trigger.
func (f *fired) append() *queue.Error {
	tx, key := f.tx, []byte(f.t.Stream)
	e, ok := look(tx, key, keyspace.NewStreamLog)
	if !ok {
		return &queue.Error{Code: queue.ErrInvalid.Code, Text: "the key of the stream holds another type"}
	}
	id := keyspace.StreamID{Ms: uint64(tx.Now), Seq: f.no}
	if last := e.data.Last(); id.Compare(last) <= 0 { // time stands, or someone else adds to the stream
		id.Ms = last.Ms + 1
	}
	words := []string{"event", f.event, "key", f.key, "type", tx.DB.Peek(tx.Env, []byte(f.key)).Type().String()}
	if f.t.Old {
		words = appendFields(words, "old", f.before())
	}
	if f.t.New {
		words = appendFields(words, "new", f.after())
	}
	fields := make([][]byte, len(words))
	for i, w := range words {
		fields[i] = []byte(w)
	}
	s := e.write()
	s.Append(keyspace.NewStreamEntry(id, fields))
	s.DropFirst(f.old(s))
	e.end(1, StreamEvent)
	return nil
}

// maxDropped is the most entries of a stream that one change removes because they are too many or too old.
const maxDropped = 16

// old is the number of entries that the stream is not to keep.
func (f *fired) old(s *keyspace.StreamLog) (n int) {
	if f.t.MaxLen > 0 {
		n = max(s.Len()-int(f.t.MaxLen), 0)
	}
	if from := f.tx.Now - f.t.Keep; f.t.Keep > 0 && from > 0 {
		n = max(n, s.From(keyspace.StreamID{Ms: uint64(from)}))
	}
	return min(n, maxDropped, s.Len()-1)
}

func appendFields(words []string, name string, v told) []string {
	switch {
	case v.omitted != "":
		return append(words, name+"Omitted", v.omitted)
	case v.none:
		return words
	}
	return append(words, name, v.text)
}
