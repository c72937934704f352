package keyspace

import (
	"encoding/binary"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/env"
)

// field is a field of a hash: the record that a snapshot has of it, which is its name and its value, each behind its length, and its
// deadline, 0 for none. So it is one allocation with one pointer to it. A field of a view stands in the record of its hash.
type field struct{ record *byte }

// newField stores a field with a value and a deadline, 0 for none.
func newField(name, value string, at Deadline) field {
	var room [3 * binary.MaxVarintLen64]byte
	lengths := binary.AppendUvarint(room[:0], uint64(len(name)))
	split := len(lengths)
	lengths = binary.AppendUvarint(lengths, uint64(len(value)))
	end := len(lengths)
	lengths = binary.AppendVarint(lengths, at.record())
	b := make([]byte, 0, len(name)+len(value)+len(lengths))
	b = append(append(b, lengths[:split]...), name...)
	b = append(append(b, lengths[split:end]...), value...)
	b = append(b, lengths[end:]...)
	return field{&b[0]}
}

// wordAt returns the word whose length stands at p, and what stands behind it. Only records that newField has made are read so: they are
// whole, and end with a deadline.
func wordAt(p unsafe.Pointer) (word string, behind unsafe.Pointer) {
	if n := *(*byte)(p); n < 0x80 { // most are short
		return unsafe.String((*byte)(unsafe.Add(p, 1)), n), unsafe.Add(p, 1+int(n))
	}
	return longWordAt(p)
}

func longWordAt(p unsafe.Pointer) (word string, behind unsafe.Pointer) {
	n, p := lengthAt(p)
	return unsafe.String((*byte)(p), n), unsafe.Add(p, n)
}

// lengthAt returns the number that stands at p, and what stands behind it.
func lengthAt(p unsafe.Pointer) (n uint64, behind unsafe.Pointer) {
	for shift := 0; ; shift += 7 {
		b := *(*byte)(p)
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n, unsafe.Add(p, 1)
		}
		p = unsafe.Add(p, 1)
	}
}

// name returns the field's name.
func (f field) name() string {
	name, _ := wordAt(unsafe.Pointer(f.record))
	return name
}

// parts returns the name, the value, and the deadline, 0 for none.
func (f field) parts() (name, value string, at Deadline) {
	name, p := wordAt(unsafe.Pointer(f.record))
	value, p = wordAt(p)
	at, _ = deadlineAt(p)
	return name, value, at
}

// text returns the record.
func (f field) text() string {
	_, p := wordAt(unsafe.Pointer(f.record))
	_, p = wordAt(p)
	_, p = deadlineAt(p)
	return unsafe.String(f.record, uintptr(p)-uintptr(unsafe.Pointer(f.record))+1)
}

// at returns the deadline, 0 for none.
func (f field) at() Deadline {
	_, _, at := f.parts()
	return at
}

// deadlineAt reads the deadline that stands at p, and returns where its last byte is.
func deadlineAt(p unsafe.Pointer) (at Deadline, last unsafe.Pointer) {
	if *(*byte)(p) == 0 { // most have none
		return 0, p
	}
	return someDeadlineAt(p)
}

// someDeadlineAt looks at no byte behind the last one, which may be that of another allocation.
func someDeadlineAt(p unsafe.Pointer) (at Deadline, last unsafe.Pointer) {
	n, shift := uint64(0), 0
	for ; ; shift += 7 {
		b := *(*byte)(p)
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return deadlineOf(int64(n>>1) ^ -int64(n&1)), p
		}
		p = unsafe.Add(p, 1)
	}
}

func (f field) expired(now env.Time) bool { return f.at().Passed(now) }

// size is the logical size of a field in bytes.
func (f field) size() int64 {
	name, value, at := f.parts()
	size := fieldCost + int64(len(name)) + int64(len(value))
	if at != 0 {
		size += expireCost
	}
	return size
}

// cutField takes a field off a packed hash.
func cutField(record string) (name string, f field, rest string) {
	f.record = unsafe.StringData(record)
	name, rest, _ = cutWord(record)
	_, rest, _ = cutWord(rest)
	return name, f, rest[1:] // a packed hash has no deadlines
}
