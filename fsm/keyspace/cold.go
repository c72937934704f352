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

// coldText is the allocation of an Object whose text is cold, if it is no shelved one.
type coldText struct {
	Object
	key  string
	text payload.Cold
}

// shelvedText is the allocation of an Object whose text is cold at a Spot: together with its key. Most are of this form.
type shelvedText struct {
	Object   // keyLen is the length of the key, textLen the lower half of that of the text
	shelf    *payload.Shelf
	position uint32
	sum      uint32
	// The key follows.
}

// shelvedRoom is a shelvedText with the room for its key.
type shelvedRoom[R any] struct {
	shelvedText
	room R
}

// shelvedAt is the offset of the key in a shelvedText.
const shelvedAt = unsafe.Sizeof(shelvedText{})

// maxShelvedKey is the largest length of the key of a shelvedText.
const maxShelvedKey = 128

// newShelved returns a shelvedText for a key of n bytes.
func newShelved(n int) *shelvedText {
	switch {
	case n <= 16:
		return &new(shelvedRoom[[16]byte]).shelvedText
	case n <= 32:
		return &new(shelvedRoom[[32]byte]).shelvedText
	case n <= 48:
		return &new(shelvedRoom[[48]byte]).shelvedText
	case n <= 80:
		return &new(shelvedRoom[[80]byte]).shelvedText
	}
	return &new(shelvedRoom[[maxShelvedKey]byte]).shelvedText
}

func (st *shelvedText) spot() payload.Spot {
	return payload.Spot{Shelf: st.shelf, Position: st.position, Length: uint32(st.textLen) | uint32(st.tail[0])<<16 | uint32(st.tail[1])<<24, Sum: st.sum}
}

// lentText is a cold Object as one command sees it. It is in no tree.
type lentText struct {
	coldText
	e     *env.Env
	bytes string // once they are read
	read  bool
}

// newCold returns an Object with a cold text and a copy of key.
func newCold(key string, text payload.Cold) *Object {
	spot, ok := payload.SpotOf(text)
	if !ok || len(key) > maxShelvedKey {
		if ok {
			text = spot
		}
		return &(&coldText{Object{form: cold}, strings.Clone(key), text}).Object
	}
	s := newShelved(len(key))
	s.Object = Object{form: shelved, keyLen: uint16(len(key)), textLen: uint16(spot.Length), tail: [3]byte{byte(spot.Length >> 16), byte(spot.Length >> 24)}}
	s.shelf, s.position, s.sum = spot.Shelf, spot.Position, spot.Sum
	copy(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(s), shelvedAt)), len(key)), key)
	return &s.Object
}

// cold returns the text of a cold Object, nil of others.
func (o *Object) cold() payload.Cold {
	switch o.form {
	case cold, lent:
		return (*coldText)(unsafe.Pointer(o)).text
	case shelved:
		return (*shelvedText)(unsafe.Pointer(o)).spot()
	}
	return nil
}

// coldLen returns the length in bytes of the text of a cold Object.
func (o *Object) coldLen() int {
	if o.form == shelved {
		return (*shelvedText)(unsafe.Pointer(o)).spot().Len()
	}
	return o.cold().Len()
}

// coldKey returns the key of a cold Object.
func (o *Object) coldKey() string {
	if o.form == shelved {
		return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(o), shelvedAt)), int(o.keyLen))
	}
	return (*coldText)(unsafe.Pointer(o)).key
}

// lend returns o for one command: a cold text is read once, when it is needed.
func (o *Object) lend(e *env.Env) *Object {
	if o == nil || o.form != cold && o.form != shelved {
		return o
	}
	l := &lentText{coldText: coldText{Object{form: lent}, o.coldKey(), o.cold()}, e: e}
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
func (o *Object) Cold() bool {
	return o != nil && (o.form == cold || o.form == lent || o.form == shelved)
}

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
	case cold, shelved:
		cc.large += n
		cc.number += n
		cc.bytes += n * int64(o.coldLen())
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
	if !o.Cold() {
		return nil
	}
	text := o.cold()
	if _, ok := text.Near(); ok {
		return nil
	}
	return text
}

// Shift is a string that may go to the disk, return from there, or go to another place there.
type Shift struct {
	of *Object
	// Bytes are those of the string, which must not be changed, nil if it has to be read from where it is. Of one that returns,
	// Back is set.
	Bytes []byte
	From  payload.Cold
	Back  bool
}

// Sought says what Shifts looks for.
type Sought struct {
	// Length is the least length in bytes of strings that go to the disk.
	Length int
	// Before is the time in unix milliseconds: strings go that were not used since.
	Before int64
	// Back has cold strings return that were used since, and are in memory.
	Back bool
	// Round is the number of the walk over all keys.
	Round uint64
}

// Shifts looks at about limit keys from a cursor on, 0 at first, and calls f for the strings that are to be moved. It
// returns the cursor to go on at, 0 at the end, and the number of keys that it looked at. It ends when f returns false.
func (db *DB) Shifts(cursor uint64, limit int, so *Sought, f func(Shift) bool) (next uint64, looked int) {
	last, more := uint64(0), true
	db.keys.AscendHead(cursor, func(o *Object, _ struct{}) bool {
		hash := headOfObject(o)
		if (looked >= limit || !more) && hash != last {
			next = hash
			return false
		}
		looked, last = looked+1, hash
		if s, ok := db.shift(o, so); ok && more {
			more = f(s)
		}
		return true
	})
	return next, looked
}

func (db *DB) shift(o *Object, so *Sought) (Shift, bool) {
	used := max(db.since, o.lastUse())
	switch o.form {
	case apart:
		text := o.flat()
		return Shift{of: o, Bytes: unsafe.Slice(unsafe.StringData(text), len(text))}, len(text) >= so.Length && used < so.Before
	case holding:
		if a, ok := o.Data().(*appended); ok {
			return Shift{of: o, Bytes: a.bytes[:len(a.bytes):len(a.bytes)]}, len(a.bytes) >= so.Length && used < so.Before
		}
	case shelved:
		text := (*shelvedText)(unsafe.Pointer(o)).spot()
		text.Shelf.Count(so.Round, text.Length)
		if so.Back && o.lastUse() >= so.Before {
			if b, near := text.Near(); near {
				return Shift{of: o, Bytes: b, Back: true}, true
			}
		}
		return Shift{of: o, From: text}, text.Shelf.Leaving()
	case cold:
		return shiftHandle(o, so)
	}
	return Shift{}, false
}

// shiftHandle is shift for a string that has a handle of its own: its key is long, or it was missing when it was named.
func shiftHandle(o *Object, so *Sought) (Shift, bool) {
	text := o.cold()
	if so.Back && o.lastUse() >= so.Before {
		if b, near := text.Near(); near {
			return Shift{of: o, Bytes: b, Back: true}, true
		}
	}
	if spot, is := text.(payload.Spot); is {
		spot.Shelf.Count(so.Round, spot.Length)
		return Shift{of: o, From: text}, spot.Shelf.Leaving()
	}
	spot, ok := payload.SpotOf(text)
	return Shift{of: o, From: spot}, ok
}

// Shift has the bytes of a string be where text is, which has the same bytes, or in memory if text is nil. It does nothing
// if the string was changed meanwhile. It changes nothing that is replicated.
func (db *DB) Shift(s Shift, text payload.Cold) (done bool) {
	key := s.of.key()
	if db.get(key) != s.of {
		return false
	}
	n := (*Object)(nil)
	if text == nil {
		n = keepText(key, Alias(s.Bytes))
	} else {
		n = newCold(key, text)
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
	named := w.References != nil && (w.References.All || o.Cold())
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
	if c := o.cold(); c != nil {
		return payload.Of(c)
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
		return newCold(key, c)
	}
	return newText(key, k.Bytes())
}
