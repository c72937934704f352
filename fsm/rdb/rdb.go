package rdb

import (
	"encoding/binary"
	"errors"
	"hash/crc64"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// The errors of reading.
var (
	// ErrPayload says that a DUMP payload is of a newer version or was changed.
	ErrPayload = errors.New("rdb: version or checksum of the payload are wrong")
	// ErrFormat says that bytes are no value of the type they claim.
	ErrFormat = errors.New("rdb: bad format")
	// ErrRoom says that the value would grow beyond what the caller allows.
	ErrRoom = errors.New("rdb: the value is larger than allowed")
	// ErrWork says that reading the value takes more steps than the caller allows.
	ErrWork = errors.New("rdb: reading the value is more work than allowed")
)

// Type is the type of a value in a file or payload: what it is and how it is written.
type Type byte

// The types of Redis 7 and 8, and those before them that are still read. Types that
// only release candidates wrote end in RC.
const (
	TypeString          Type = 0
	TypeList            Type = 1
	TypeSet             Type = 2
	TypeZSet            Type = 3 // scores as text
	TypeHash            Type = 4
	TypeZSet2           Type = 5 // scores in binary
	TypeModule2         Type = 7
	TypeListZiplist     Type = 10
	TypeSetIntset       Type = 11
	TypeZSetZiplist     Type = 12
	TypeHashZiplist     Type = 13
	TypeListQuicklist   Type = 14
	TypeStream          Type = 15
	TypeHashListpack    Type = 16
	TypeZSetListpack    Type = 17
	TypeListQuicklist2  Type = 18
	TypeStream2         Type = 19
	TypeSetListpack     Type = 20
	TypeStream3         Type = 21
	TypeHashTimedRC     Type = 22
	TypeListpackTimedRC Type = 23
	TypeHashTimed       Type = 24 // fields with deadlines, since 7.4
	TypeListpackTimed   Type = 25
)

const (
	// Version is the newest version of the format that is read: that of Redis 8.
	Version = 12
	// plainVersion is in payloads that Redis 7.0 reads, timedVersion in those with
	// what came with 7.4.
	plainVersion = 10
	timedVersion = 12

	footerSize = 2 + 8 // version and checksum
)

// Value is a value of any type.
type Value struct {
	// Text is the value of a string.
	Text string
	// Data is the container of any other type, nil for a string.
	Data keyspace.Container
}

// table is that of the polynomial of Jones, which Redis's checksum uses.
var table = crc64.MakeTable(0x95AC9329AC4BC9B5)

// Checksum goes on with a checksum, 0 at first, over b.
func Checksum(sum uint64, b []byte) uint64 { return ^crc64.Update(^sum, table, b) }

// Frame makes a payload for RESTORE of b, a value after its type.
func Frame(b []byte) []byte { return frame(b, Version) }

func frame(b []byte, version uint16) []byte {
	b = binary.LittleEndian.AppendUint16(b, version)
	return binary.LittleEndian.AppendUint64(b, Checksum(0, b))
}

// Open checks the end of a payload and returns what stands before it.
func Open(payload []byte) ([]byte, error) {
	n := len(payload) - footerSize
	if n < 0 {
		return nil, ErrPayload
	}
	sum := binary.LittleEndian.Uint64(payload[n+2:])
	if binary.LittleEndian.Uint16(payload[n:]) > Version || Checksum(0, payload[:n+2]) != sum {
		return nil, ErrPayload
	}
	return payload[:n], nil
}

// Dump is the payload of an object, without its deadline. Fields of a hash that are past
// theirs at now, in unix milliseconds, are left out. The error is that of a document
// whose text would be too long.
func Dump(o *keyspace.Object, now env.Time) ([]byte, error) {
	w := writer{}
	version, err := w.value(o, now)
	if err != nil {
		return nil, err
	}
	return frame(w.b, version), nil
}

// Bounds limit the memory and the work of reading a payload.
type Bounds struct {
	// Room is the most memory of the value, in bytes. Work is the most steps of reading it (0 = unlimited): two for an element, one for
	// 64 bytes of it, and more for values that take longer to make.
	Room, Work int64
	// ReadRefused says that reading a payload of RefusedPayload returns the error that it was made for.
	ReadRefused bool
}

// Restore reads a payload, and returns how many steps of work that was. Fields of a hash that are past their deadline at now
// are left out, which may leave none.
func Restore(payload []byte, now int64, bounds Bounds) (v Value, worked int64, err error) {
	body, err := Open(payload)
	if err != nil {
		return Value{}, 0, err
	}
	if bounds.ReadRefused {
		if err := refusalOf(body); err != nil {
			return Value{}, 0, err
		}
	}
	return decode(body, &reader{now: now, room: bounds.Room, most: bounds.Work})
}

// Decode reads b, a value after its type, and nothing else. Fields are left out as by Restore; room is the most memory of
// the value, in bytes.
func Decode(b []byte, now, room int64) (Value, error) {
	v, _, err := decode(b, &reader{now: now, room: room})
	return v, err
}

func decode(b []byte, r *reader) (Value, int64, error) {
	if len(b) == 0 {
		return Value{}, 0, ErrFormat
	}
	r.b = b[1:]
	v, err := r.value(Type(b[0]))
	if err == nil && len(r.b) > 0 {
		v, err = Value{}, ErrFormat
	}
	return v, r.worked, err
}
