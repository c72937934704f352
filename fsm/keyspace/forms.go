package keyspace

import (
	"strings"
	"unsafe"
)

// form says what follows an Object in its allocation. Most keys and values are short, so both are
// there: one allocation for each key, without pointers, so that the collector marks it without
// reading it. That is most of what a collection of a large keyspace costs, and the memory that
// garbage takes follows from that (docs/design/memory.md).
type form uint8

const (
	inline  form = iota // the bytes of the key, then those of the text
	apart               // apartText: a string of its own for each
	holding             // holder: every type but plain strings
	cold                // coldText: a string on the disk
	shelved             // shelvedText: the usual form of one
	lent                // lentText: a cold one that a command has looked up
	packed              // packed+form(Type): as inline, with the block of a small container in place of the text
)

// maxInline is the largest size of a key and a text together in the inline form, in bytes: a new
// deadline for a text copies no more.
const maxInline = 1024

// inlineAt is the offset of the key in the inline form.
const inlineAt = unsafe.Offsetof(Object{}.tail)

// apartText is the allocation of an Object whose text, or key, is long.
type apartText struct {
	Object
	key, text string
}

// holder is the allocation of an Object with a Container.
type holder struct {
	Object
	key  string
	data Container
}

// newText is an Object with a copy of key and value.
func newText(key string, value []byte) *Object {
	if len(key)+len(value) > maxInline {
		return &(&apartText{Object{form: apart}, strings.Clone(key), cloneText(value)}).Object
	}
	return newInline(key, Alias(value))
}

// cloneStep bytes are copied at a time: a copy can't be interrupted, and whatever else the process does may have to wait for its end.
const cloneStep = 128 << 10

// cloneText is a copy of value as a text.
func cloneText(value []byte) string {
	if len(value) <= cloneStep {
		return string(value)
	}
	var text strings.Builder
	text.Grow(len(value))
	for len(value) > 0 {
		n := min(len(value), cloneStep)
		text.Write(value[:n])
		value = value[n:]
	}
	return text.String()
}

// keepText is an Object with a copy of key and with text, which it shares if it is long.
func keepText(key, text string) *Object {
	if len(key)+len(text) > maxInline {
		return &(&apartText{Object{form: apart}, strings.Clone(key), text}).Object
	}
	return newInline(key, text)
}

// newInline is an Object with copies of a key and a text of at most maxInline bytes together.
func newInline(key, text string) *Object { return newBlock(inline, key, text) }

// newBlock is an Object of a form that has its key and its text, or block, in its own allocation.
func newBlock(f form, key, text string) *Object {
	n := len(key) + len(text)
	words := make([]uint64, (max(inlineAt+uintptr(n), unsafe.Sizeof(Object{}))+7)/8) // words, for their alignment
	o := (*Object)(unsafe.Pointer(unsafe.SliceData(words)))
	o.form, o.keyLen, o.textLen = f, uint16(len(key)), uint16(len(text))
	room := unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(o), inlineAt)), n)
	copy(room[copy(room, key):], text)
	return o
}

// newHolder is an Object with a Container and a key, which it keeps.
func newHolder(key string, c Container) *Object {
	return &(&holder{Object{form: holding}, key, c}).Object
}

// key is the key that o is under. It lives as long as o does: what keeps a key for longer clones it.
func (o *Object) key() string {
	switch o.form {
	case apart:
		return (*apartText)(unsafe.Pointer(o)).key
	case holding:
		return (*holder)(unsafe.Pointer(o)).key
	case cold, lent, shelved:
		return o.coldKey()
	}
	return o.piece(0, o.keyLen)
}

// flat is the text of an Object that has no Container.
func (o *Object) flat() string {
	switch o.form {
	case apart:
		return (*apartText)(unsafe.Pointer(o)).text
	case cold, shelved:
		return Alias(o.cold().Hold())
	case lent:
		return o.lentText()
	}
	return o.piece(o.keyLen, o.textLen)
}

// piece are n bytes of the inline form from a place on.
func (o *Object) piece(from, n uint16) string {
	if n == 0 {
		return "" // its place may be behind the allocation
	}
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(o), inlineAt+uintptr(from))), int(n))
}

// Data is the container of an object that is no String, or a String that is not kept as one text; nil of others.
func (o *Object) Data() Container {
	switch {
	case o.form == holding:
		return (*holder)(unsafe.Pointer(o)).data
	case o.isPacked():
		return o.view()
	}
	return nil
}

// ownKey is the key of o as a string that keeps no text in memory.
func (o *Object) ownKey() string {
	if o.form == inline || o.form == shelved || o.isPacked() {
		return strings.Clone(o.key())
	}
	return o.key()
}

// copy is a copy of o with what is known of its use.
func (o *Object) copy() *Object {
	switch o.form {
	case apart:
		t := *(*apartText)(unsafe.Pointer(o))
		return o.passOn(&(&apartText{Object{form: apart}, t.key, t.text}).Object)
	case holding:
		return o.with(o.Data())
	case cold, lent, shelved:
		return o.passOn(newCold(o.coldKey(), o.cold()))
	}
	return o.passOn(newBlock(o.form, o.key(), o.flat()))
}

// under is a copy of o for another key, which is copied.
func (o *Object) under(key string) *Object {
	switch {
	case o.form == holding || o.isPacked() && len(key) > maxPackedKey:
		return o.passOn(newHolder(strings.Clone(key), o.whole()))
	case o.isPacked():
		return o.passOn(newBlock(o.form, key, o.flat()))
	case o.Cold():
		return o.passOn(newCold(key, o.cold()))
	}
	return o.passOn(keepText(key, o.flat()))
}

// whole is Data as a holder may keep it.
func (o *Object) whole() Container {
	if o.isPacked() {
		return o.view().Clone()
	}
	return o.Data()
}

// with is a copy of o that holds another container.
func (o *Object) with(c Container) *Object { return o.passOn(newHolder(o.ownKey(), c)) }
