package rdb

import (
	"encoding/binary"
	"math"
	"strconv"
)

// How a length begins, by its first two bits, and what else may stand in its place.
const (
	length6  = 0
	length14 = 1
	lengthN  = 2 // of 32 or 64 bits
	special  = 3

	length32 = 0x80
	length64 = 0x81

	int8s  = 0
	int16s = 1
	int32s = 2
	packed = 3
)

// reader reads values from b, which gets shorter.
type reader struct {
	b    []byte
	now  int64 // unix milliseconds
	room int64 // bytes that the value may still take
	// worked counts the steps of reading it, most is the largest number of them (0 = unlimited).
	worked, most int64
}

// elementRoom is the least memory of an element, in bytes.
const elementRoom = 16

// textPerStep is the number of bytes of an element that are a step of work, as for commands.
const textPerStep = 64

// elementSteps are the steps of an element beside those of its text.
const elementSteps = 2

// Steps that values take in addition to those of their elements: for each member of a sorted set, and the bytes of a JSON document and of
// the record of another module are one.
const (
	scoredSteps  = 3
	jsonPerStep  = 6
	otherPerStep = 16
)

// take charges n bytes for an element.
func (r *reader) take(n int) error {
	if r.room -= int64(n) + elementRoom; r.room < 0 {
		return ErrRoom
	}
	return r.work(elementSteps + n/textPerStep)
}

// work counts so many steps.
func (r *reader) work(steps int) error {
	if r.worked += int64(steps); r.worked > r.most && r.most > 0 {
		return ErrWork
	}
	return nil
}

// bytes are the next n bytes, which alias the input.
func (r *reader) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(r.b)) {
		return nil, ErrFormat
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b, nil
}

// head reads a length, or the number of a special encoding.
func (r *reader) head() (n uint64, isSpecial bool, err error) {
	b, err := r.bytes(1)
	if err != nil {
		return 0, false, err
	}
	first := b[0]
	more := 0
	switch {
	case first>>6 == special:
		return uint64(first & 0x3F), true, nil
	case first>>6 == length6:
		return uint64(first), false, nil
	case first>>6 == length14:
		n, more = uint64(first&0x3F), 1
	case first == length32:
		more = 4
	case first == length64:
		more = 8
	default:
		return 0, false, ErrFormat
	}
	if b, err = r.bytes(uint64(more)); err != nil {
		return 0, false, err
	}
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n, false, nil
}

// length reads a length.
func (r *reader) length() (uint64, error) {
	n, isSpecial, err := r.head()
	if err == nil && isSpecial {
		err = ErrFormat
	}
	return n, err
}

// count reads how many elements follow, of which each takes at least so many bytes; none
// is an error, as for Redis.
func (r *reader) count(least int) (int, error) {
	n, err := r.length()
	if err != nil {
		return 0, err
	}
	if n == 0 || n > uint64(len(r.b)/least) {
		return 0, ErrFormat
	}
	return int(n), nil
}

// blob reads a string. Unless it was packed it aliases the input.
func (r *reader) blob() ([]byte, error) {
	n, isSpecial, err := r.head()
	if err != nil {
		return nil, err
	}
	if !isSpecial {
		b, err := r.bytes(n)
		if err == nil {
			err = r.take(len(b))
		}
		return b, err
	}
	if n == packed {
		return r.packed()
	}
	if n > int32s {
		return nil, ErrFormat
	}
	b, err := r.bytes(1 << n)
	if err != nil {
		return nil, err
	}
	return strconv.AppendInt(nil, signed(b), 10), r.take(0)
}

// packed reads a string in LZF.
func (r *reader) packed() ([]byte, error) {
	short, err := r.length()
	if err != nil {
		return nil, err
	}
	long, err := r.length()
	if err != nil {
		return nil, err
	}
	b, err := r.bytes(short)
	if err != nil {
		return nil, err
	}
	if long > lzfMaxSize(len(b)) {
		return nil, ErrFormat
	}
	if int64(long) > r.room {
		return nil, ErrRoom
	}
	if err := r.take(int(long)); err != nil {
		return nil, err
	}
	return unLZF(b, int(long))
}

func (r *reader) text() (string, error) {
	b, err := r.blob()
	return string(b), err
}

// millis reads a moment in unix milliseconds.
func (r *reader) millis() (int64, error) {
	b, err := r.bytes(8)
	if err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(b)), nil
}

// double reads a score in binary.
func (r *reader) double() (float64, error) {
	b, err := r.bytes(8)
	if err != nil {
		return 0, err
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
}

// The lengths that stand for scores without digits.
const (
	scoreNaN      = 253
	scoreInfinite = 254
	scoreNegative = 255
)

// doubleText reads a score as text.
func (r *reader) doubleText() (float64, error) {
	head, err := r.bytes(1)
	if err != nil {
		return 0, err
	}
	switch head[0] {
	case scoreNaN:
		return 0, ErrFormat
	case scoreInfinite:
		return math.Inf(1), nil
	case scoreNegative:
		return math.Inf(-1), nil
	}
	b, err := r.bytes(uint64(head[0]))
	if err != nil {
		return 0, err
	}
	return parseScore(string(b))
}

// parseScore reads a score that stands as text; too great a one is an infinity.
func parseScore(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, ErrFormat
	}
	return f, nil
}
