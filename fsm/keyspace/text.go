package keyspace

import (
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/env"
)

// A short text stands behind its Object in one allocation: most values are short, and
// an allocation more per write is among the largest costs of applying it. The sizes
// are those of the runtime's size classes less that of an Object.
type (
	object8 struct {
		Object
		bytes [8]byte
	}
	object24 struct {
		Object
		bytes [24]byte
	}
	object40 struct {
		Object
		bytes [40]byte
	}
	object56 struct {
		Object
		bytes [56]byte
	}
	object72 struct {
		Object
		bytes [72]byte
	}
	object88 struct {
		Object
		bytes [88]byte
	}
	object104 struct {
		Object
		bytes [104]byte
	}
)

// newText is an Object with a copy of value.
func newText(value []byte) *Object {
	switch n := len(value); {
	case n == 0:
		return &Object{}
	case n <= 8:
		o := new(object8)
		return o.hold(o.bytes[:], value)
	case n <= 24:
		o := new(object24)
		return o.hold(o.bytes[:], value)
	case n <= 40:
		o := new(object40)
		return o.hold(o.bytes[:], value)
	case n <= 56:
		o := new(object56)
		return o.hold(o.bytes[:], value)
	case n <= 72:
		o := new(object72)
		return o.hold(o.bytes[:], value)
	case n <= 88:
		o := new(object88)
		return o.hold(o.bytes[:], value)
	case n <= 104:
		o := new(object104)
		return o.hold(o.bytes[:], value)
	}
	return &Object{text: string(value)}
}

// hold makes room, which belongs to o, the text of o.
func (o *Object) hold(room, value []byte) *Object {
	n := copy(room, value)
	o.text = unsafe.String(unsafe.SliceData(room), n)
	return o
}

// SetBytes stores a copy of value, with a deadline in unix milliseconds or 0, in place
// of whatever key held.
func (db *DB) SetBytes(e *env.Env, key, value []byte, expire int64) {
	o := newText(value)
	o.Expire = expire
	db.put(e, key, o)
}
