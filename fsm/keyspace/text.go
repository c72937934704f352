package keyspace

import (
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/env"
)

// A short text stands behind its Object in one allocation: most values are short, and
// an allocation more per write is among the largest costs of applying it. The sizes
// are those of the runtime's size classes less that of an Object.
type (
	object16 struct {
		Object
		bytes [16]byte
	}
	object32 struct {
		Object
		bytes [32]byte
	}
	object48 struct {
		Object
		bytes [48]byte
	}
	object64 struct {
		Object
		bytes [64]byte
	}
	object96 struct {
		Object
		bytes [96]byte
	}
)

// newText is an Object with a copy of value.
func newText(value []byte) *Object {
	switch n := len(value); {
	case n == 0:
		return &Object{}
	case n <= 16:
		o := new(object16)
		return o.hold(o.bytes[:], value)
	case n <= 32:
		o := new(object32)
		return o.hold(o.bytes[:], value)
	case n <= 48:
		o := new(object48)
		return o.hold(o.bytes[:], value)
	case n <= 64:
		o := new(object64)
		return o.hold(o.bytes[:], value)
	case n <= 96:
		o := new(object96)
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
