package keyspace

import (
	"encoding/binary"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/env"
)

// cell is the value of a field. Its bytes stand behind those of the field's name, so that a field is one allocation. Behind the value is
// the deadline, if there is one.
type cell struct {
	first  *byte // of the value, nil if there are no bytes
	length uint32
	timed  bool // it has a deadline
}

// deadlineBytes is the size of a deadline behind a value.
const deadlineBytes = 8

// cellOf stores a field with a value and a deadline, 0 for none. It returns the name as it is stored.
func cellOf(field, value string, at Deadline) (stored string, c cell) {
	size := len(field) + len(value)
	if at != 0 {
		size += deadlineBytes
	}
	b := append(append(make([]byte, 0, size), field...), value...)
	if at != 0 {
		b = binary.LittleEndian.AppendUint64(b, uint64(at))
	}
	c = cell{length: uint32(len(value)), timed: at != 0}
	if len(b) > len(field) {
		c.first = &b[len(field)]
	}
	return Alias(b[:len(field)]), c
}

// value returns the value.
func (c cell) value() string { return unsafe.String(c.first, int(c.length)) }

// at returns the deadline, 0 for none.
func (c cell) at() Deadline {
	if !c.timed {
		return 0
	}
	return Deadline(binary.LittleEndian.Uint64(unsafe.Slice(c.first, int(c.length)+deadlineBytes)[c.length:]))
}

func (c cell) expired(now env.Time) bool { return c.timed && c.at().Passed(now) }

// size is the logical size of a field of that value in bytes.
func (c cell) size(field string) int64 {
	size := fieldCost + int64(len(field)) + int64(c.length)
	if c.timed {
		size += expireCost
	}
	return size
}

// cutCell takes a field's value off a packed hash, whose fields have no deadlines.
func cutCell(record string) (c cell, rest string) {
	value, rest, _ := cutWord(record)
	if value != "" {
		c = cell{first: unsafe.StringData(value), length: uint32(len(value))}
	}
	return c, rest[1:]
}
