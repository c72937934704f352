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
func (p *Builder) Add(s string) {
	if n, ok := ParseInt(s); ok {
		p.AddInt(n)
		return
	}
	p.open()
	start := len(p.b)
	switch n := len(s); {
	case n < 1<<6:
		p.b = append(p.b, 0x80|byte(n))
	case n < 1<<12:
		p.b = append(p.b, 0xE0|byte(n>>8), byte(n))
	default:
		p.b = binary.LittleEndian.AppendUint32(append(p.b, text32), uint32(n))
	}
	p.b = append(p.b, s...)
	p.close(start)
}

// AddInt appends an integer.
func (p *Builder) AddInt(n int64) {
	p.open()
	start := len(p.b)
	switch {
	case n >= 0 && n < 1<<7:
		p.b = append(p.b, byte(n))
	case n >= -1<<12 && n < 1<<12:
		u := uint16(n) & 0x1FFF
		p.b = append(p.b, 0xC0|byte(u>>8), byte(u))
	case n >= -1<<15 && n < 1<<15:
		p.b = binary.LittleEndian.AppendUint16(append(p.b, int16s), uint16(n))
	case n >= -1<<23 && n < 1<<23:
		p.b = append(p.b, int24s, byte(n), byte(n>>8), byte(n>>16))
	case n >= -1<<31 && n < 1<<31:
		p.b = binary.LittleEndian.AppendUint32(append(p.b, int32s), uint32(n))
	default:
		p.b = binary.LittleEndian.AppendUint64(append(p.b, int64s), uint64(n))
	}
	p.close(start)
}

func (p *Builder) open() {
	if p.b == nil {
		p.b = make([]byte, headerSize, 64)
	}
}

// close writes the length of the entry that begins at start behind it, the way a reader
// from the back needs it.
func (p *Builder) close(start int) {
	p.n++
	n := len(p.b) - start
	mark := byte(0) // on all bytes but the first
	for i := backSize(n) - 1; i >= 0; i-- {
		p.b = append(p.b, byte(n>>(7*i))&0x7F|mark)
		mark = 0x80
	}
}

// backSize is how many bytes the length of an entry of n bytes takes behind it.
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
func (p *Builder) Len() int { return p.n }

// Size is the length that the listpack has now, in bytes.
func (p *Builder) Size() int { return max(len(p.b), headerSize) + 1 }

// Bytes is the listpack. The builder must not be used any more.
func (p *Builder) Bytes() []byte {
	p.open()
	p.b = append(p.b, end)
	binary.LittleEndian.PutUint32(p.b, uint32(len(p.b)))
	binary.LittleEndian.PutUint16(p.b[4:], uint16(min(p.n, manyEntries)))
	return p.b
}

// EmptySize is the length of a listpack without entries, in bytes.
const EmptySize = headerSize + 1

// EntrySize is how many bytes an entry takes.
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
