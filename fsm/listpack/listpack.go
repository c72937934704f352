package listpack

import (
	"encoding/binary"
	"errors"
	"strconv"
)

// ErrCorrupt says that bytes are no listpack.
var ErrCorrupt = errors.New("listpack: corrupt")

const (
	headerSize = 6 // total length and number of entries
	end        = 0xFF
	// manyEntries in the header means that the entries have to be counted.
	manyEntries = 0xFFFF
)

// The first bytes of entries that don't hold part of their value.
const (
	text32 = 0xF0
	int16s = 0xF1
	int24s = 0xF2
	int32s = 0xF3
	int64s = 0xF4
)

// Builder makes a listpack. The zero Builder is empty.
type Builder struct {
	b []byte
	n int
}

// Add appends an entry, as an integer if it is one in its shortest decimal form.
func (b *Builder) Add(s string) {
	if n, ok := ParseInt(s); ok {
		b.AddInt(n)
		return
	}
	b.open()
	start := len(b.b)
	switch n := len(s); {
	case n < 1<<6:
		b.b = append(b.b, 0x80|byte(n))
	case n < 1<<12:
		b.b = append(b.b, 0xE0|byte(n>>8), byte(n))
	default:
		b.b = binary.LittleEndian.AppendUint32(append(b.b, text32), uint32(n))
	}
	b.b = append(b.b, s...)
	b.close(start)
}

// AddInt appends an integer.
func (b *Builder) AddInt(n int64) {
	b.open()
	start := len(b.b)
	switch {
	case n >= 0 && n < 1<<7:
		b.b = append(b.b, byte(n))
	case n >= -1<<12 && n < 1<<12:
		u := uint16(n) & 0x1FFF
		b.b = append(b.b, 0xC0|byte(u>>8), byte(u))
	case n >= -1<<15 && n < 1<<15:
		b.b = binary.LittleEndian.AppendUint16(append(b.b, int16s), uint16(n))
	case n >= -1<<23 && n < 1<<23:
		b.b = append(b.b, int24s, byte(n), byte(n>>8), byte(n>>16))
	case n >= -1<<31 && n < 1<<31:
		b.b = binary.LittleEndian.AppendUint32(append(b.b, int32s), uint32(n))
	default:
		b.b = binary.LittleEndian.AppendUint64(append(b.b, int64s), uint64(n))
	}
	b.close(start)
}

func (b *Builder) open() {
	if b.b == nil {
		b.b = make([]byte, headerSize, 64)
	}
}

// close writes the length of the entry that begins at start behind it, the way a reader
// from the back needs it.
func (b *Builder) close(start int) {
	b.n++
	n := len(b.b) - start
	mark := byte(0) // on all bytes but the first
	for i := backSize(n) - 1; i >= 0; i-- {
		b.b = append(b.b, byte(n>>(7*i))&0x7F|mark)
		mark = 0x80
	}
}

// backSize returns the number of bytes of the length that follows an entry of n bytes.
func backSize(n int) int {
	switch {
	case n <= 127:
		return 1
	case n < 16383:
		return 2
	case n < 2097151:
		return 3
	case n < 268435455:
		return 4
	}
	return 5
}

// Len is the number of entries.
func (b *Builder) Len() int { return b.n }

// Size is the length that the listpack has now, in bytes.
func (b *Builder) Size() int { return max(len(b.b), headerSize) + 1 }

// Bytes is the listpack. The builder must not be used any more.
func (b *Builder) Bytes() []byte {
	b.open()
	b.b = append(b.b, end)
	binary.LittleEndian.PutUint32(b.b, uint32(len(b.b)))
	binary.LittleEndian.PutUint16(b.b[4:], uint16(min(b.n, manyEntries)))
	return b.b
}

// EmptySize is the length of a listpack without entries, in bytes.
const EmptySize = headerSize + 1

// EntrySize returns the size of an entry in bytes.
func EntrySize(s string) int {
	n := len(s)
	if v, ok := ParseInt(s); ok {
		n = intSize(v)
	} else if n < 1<<6 {
		n++
	} else if n < 1<<12 {
		n += 2
	} else {
		n += 5
	}
	return n + backSize(n)
}

func intSize(n int64) int {
	switch {
	case n >= 0 && n < 1<<7:
		return 1
	case n >= -1<<12 && n < 1<<12:
		return 2
	case n >= -1<<15 && n < 1<<15:
		return 3
	case n >= -1<<23 && n < 1<<23:
		return 4
	case n >= -1<<31 && n < 1<<31:
		return 5
	}
	return 9
}

// maxIntText is the length of the smallest 64-bit integer.
const maxIntText = 20

// ParseInt reads an integer in its one shortest decimal form.
func ParseInt(s string) (int64, bool) {
	if len(s) == 0 || len(s) > maxIntText {
		return 0, false
	}
	digits := s
	if s[0] == '-' {
		digits = s[1:]
	}
	if digits == "" || digits[0] < '0' || digits[0] > '9' || (digits[0] == '0' && len(s) > 1) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}
