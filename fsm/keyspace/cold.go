package keyspace

import (
	"strings"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A large string that was not used for a while is cold: its bytes are a payload, which the node's keeper has on its disk. Whether
// a string is cold is this node's own affair, as its access time is: replies, versions, logical sizes and digests do not depend on
// it. docs/design/cold-values.md has the reasons.

// coldText is the allocation of an Object whose text is cold.
type coldText struct {
	Object
	key  string
	text payload.Cold
}

// lentText is a cold Object as one command sees it. It is in no tree.
type lentText struct {
	coldText
	e     *env.Env
	bytes string // once they are read
	read  bool
}

// newCold returns an Object with a cold text and a key, which it keeps.
func newCold(key string, text payload.Cold) *Object {
	return &(&coldText{Object{form: cold}, key, text}).Object
}

// coldPart returns what a cold Object has, nil of others.
func (o *Object) coldPart() *coldText {
	if o.form != cold && o.form != lent {
		return nil
	}
	return (*coldText)(unsafe.Pointer(o))
}

// lend returns o for one command: a cold text is read once, when it is needed.
func (o *Object) lend(e *env.Env) *Object {
	if o == nil || o.form != cold {
		return o
	}
	l := &lentText{coldText: *o.coldPart(), e: e}
	l.coldText.Object = Object{form: lent}
	return o.passOn(&l.Object)
}

// The cost of a text that a bounded read lacks, in the steps of Charge: of one look at the disk, and in bytes for a step.
const (
	lackCost = 100
	lackUnit = 64
)

// lentText returns the text of an Object that was lent. A bounded read must not wait for the disk: its Env notes what it lacks,
// the text is empty, and whatever the command answers is discarded.
func (o *Object) lentText() string {
	l := (*lentText)(unsafe.Pointer(o))
	if l.read {
		return l.bytes
	}
	var b []byte
	if l.e.Bounded {
		near, ok := l.text.Near()
		if !ok {
			// What it would read counts, so that what is read before it is run again is bounded, too.
			l.e.Charge(lackCost + int64(l.text.Len())/lackUnit)
			l.e.Lacks = append(l.e.Lacks, l.text)
			return ""
		}
		b = near
	} else {
		b = l.text.Hold()
	}
	l.bytes, l.read = Alias(b), true
	return l.bytes
}

// span returns a part of the text of a String object, nothing if the text is lacking.
func (o *Object) span(from, to int) string {
	text := o.Text()
	if o.form == lent && to > len(text) {
		return ""
	}
	return text[from:to]
}

// Cold reports whether the object is a cold string.
func (o *Object) Cold() bool { return o != nil && o.coldPart() != nil }

// ColdValues returns the number of cold strings and their total length in bytes. They are this node's own.
func (db *DB) ColdValues() (number, bytes int64) { return db.cold.number, db.cold.bytes }

// MayShift reports whether there are strings that Shifts may call f for.
func (db *DB) MayShift() bool { return db.cold.large > 0 }

// coldCount counts large strings, and those of them that are cold.
type coldCount struct{ large, number, bytes int64 }

// account adds n times o to the counts.
func (cc *coldCount) account(o *Object, n int64) {
	if o == nil {
		return
	}
	switch o.form {
	case cold:
		cc.large += n
		cc.number += n
		cc.bytes += n * int64(o.coldPart().text.Len())
	case apart:
		if len(o.flat()) >= payload.Apart {
			cc.large += n
		}
	case holding:
		if a, ok := o.Data().(*appended); ok && len(a.bytes) >= payload.Apart {
			cc.large += n
		}
	}
}

// Lacking returns the payload of the string under key if it is cold and not in memory, nil otherwise.
func (db *DB) Lacking(key []byte) payload.Cold {
	o := db.get(probe(key))
	if o == nil || o.form != cold {
		return nil
	}
	text := o.coldPart().text
	if _, ok := text.Near(); ok {
		return nil
	}
	return text
}

// Shift is a string that may go to the disk, or return from there.
type Shift struct {
	of *Object
	// Bytes are those of the string, which must not be changed. Of one that returns, Back is set.
	Bytes []byte
	Back  bool
}

// Shifts looks at about limit keys from a cursor on, 0 at first, and calls f for the strings of at least length bytes that were
// not used since the time before, in unix milliseconds, and with back for cold ones that were used since and are in memory. It
// returns the cursor to go on at, 0 at the end, and the number of keys that it looked at. It ends when f returns false.
func (db *DB) Shifts(cursor uint64, limit, length int, before int64, back bool, f func(Shift) bool) (next uint64, looked int) {
	last, more := uint64(0), true
	db.keys.AscendHead(cursor, func(o *Object, _ struct{}) bool {
		hash := headOfObject(o)
		if (looked >= limit || !more) && hash != last {
			next = hash
			return false
		}
		looked, last = looked+1, hash
		if s, ok := db.shift(o, length, before, back); ok && more {
			more = f(s)
		}
		return true
	})
	return next, looked
}

func (db *DB) shift(o *Object, length int, before int64, back bool) (Shift, bool) {
	used := max(db.since, o.lastUse())
	switch o.form {
	case apart:
		text := o.flat()
		return Shift{of: o, Bytes: unsafe.Slice(unsafe.StringData(text), len(text))}, len(text) >= length && used < before
	case holding:
		if a, ok := o.Data().(*appended); ok {
			return Shift{of: o, Bytes: a.bytes[:len(a.bytes):len(a.bytes)]}, len(a.bytes) >= length && used < before
		}
	case cold:
		if !back || o.lastUse() < before {
			return Shift{}, false
		}
		b, near := o.coldPart().text.Near()
		return Shift{of: o, Bytes: b, Back: true}, near
	}
	return Shift{}, false
}

// Shift has the bytes of a string be where text is, which has the same bytes, or in memory if text is nil. It does nothing
// if the string was changed meanwhile. It changes nothing that is replicated.
func (db *DB) Shift(s Shift, text payload.Cold) (done bool) {
	key := s.of.key()
	if db.get(key) != s.of {
		return false
	}
	n := newCold(s.of.ownKey(), text)
	if text == nil {
		n = keepText(key, Alias(s.Bytes))
	}
	s.of.passOn(n)
	db.cold.account(s.of, -1)
	db.cold.account(n, 1)
	*db.slot(key) = n
	return true
}

// The codes of records of large strings, in place of the type: as a payload, and as length and digest.
const (
	largeCode  = 254
	digestCode = 253
)

// encodeLarge writes a string of at least payload.Apart bytes if w wants digests in the place of its bytes, or names payloads,
// and o is cold, or all are to be named. Otherwise it writes nothing: the record has the plain form.
func encodeLarge(w *wire.Writer, key string, o *Object) (written bool) {
	named := w.References != nil && (w.References.All || o.form == cold)
	if o.Type() != String || o.Len() < payload.Apart || !w.Digests && !named {
		return false
	}
	w.String(key)
	if w.Digests {
		w.Uvarint(digestCode)
	} else {
		w.Uvarint(largeCode)
	}
	w.Varint(o.Expire.record())
	w.Uvarint(o.Version)
	w.Put(largeText{o.payload()})
	return true
}

// largeText is the text in a record of a large string.
type largeText struct{ payload.Payload }

// Fields codes the value in its wire format.
func (lt largeText) Fields(c *wire.Codec) { lt.Field(c) }

// payload returns the text of a String object as a payload.
func (o *Object) payload() payload.Payload {
	if c := o.coldPart(); c != nil {
		return payload.Of(c.text)
	}
	text := o.Text()
	return payload.New(unsafe.Slice(unsafe.StringData(text), len(text)), nil)
}

// decodeLarge reads the rest of what encodeLarge wrote.
func decodeLarge(key string, r *wire.Reader) *Object {
	k, b := r.Large()
	if r.Err() != nil {
		return nil
	}
	if k == nil {
		return newText(key, b)
	}
	if p, ok := k.(payload.Payload); ok {
		if k = p.Kept(); k == nil {
			return newText(key, p.Bytes())
		}
	}
	if c, ok := k.(payload.Cold); ok {
		return newCold(strings.Clone(key), c)
	}
	return newText(key, k.Bytes())
}
