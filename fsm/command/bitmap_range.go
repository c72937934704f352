package command

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var errBitArgument = reply.Error("ERR The bit argument must be 1 or 0.")

// bitRange is a range of bytes or bits, both ends included.
type bitRange struct {
	start, end int64
	open       bool // no end was given
	bits       bool
}

// unit reads BYTE or BIT.
func (r *bitRange) unit(a *Args) {
	switch {
	case a.Word("BIT"):
		r.bits = true
	case a.Word("BYTE"):
	default:
		a.Fail(ErrSyntax)
	}
}

// span returns the bits from from to to, to excluded, of a string of that many bytes.
// Positions from the end that lie before the first byte count as the first.
func (r *bitRange) span(length int) (from, to int64) {
	size, unit := int64(length), int64(8)
	if r.bits {
		size, unit = size*8, 1
	}
	start, end := r.start, r.end
	if start < 0 {
		start += size
	}
	if end < 0 {
		end += size
	}
	start, end = max(start, 0), max(end, 0)
	if r.open || end >= size {
		end = size - 1
	}
	if start > end {
		return 0, 0
	}
	return start * unit, (end + 1) * unit
}

func bitCount(tx *Tx, a *Args) reply.Value {
	key, r := a.Bytes(), bitRange{open: true}
	if a.Left() > 0 {
		r.start, r.end, r.open = a.Int(), a.Int(), false
	}
	if a.Left() > 0 {
		r.unit(a)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	switch {
	case !ok:
		return ErrWrongType
	case r.start < 0 && r.end < 0 && r.start > r.end:
		return reply.Int(0)
	}
	from, to := r.span(o.Len())
	return reply.Int(countBits(o, from, to))
}

// edges returns the masks of the first and the last byte of a range of bits, and the
// range of bytes.
func edges(from, to int64) (first, last byte, start, end int) {
	return 0xff >> (from % 8), byte(0xff << (7 - (to-1)%8)), int(from / 8), int((to + 7) / 8)
}

func countBits(o *keyspace.Object, from, to int64) (n int64) {
	if from >= to {
		return 0
	}
	first, last, start, end := edges(from, to)
	o.Pieces(start, end, func(s string) bool {
		n += int64(popCount(s))
		return true
	})
	n -= int64(bits.OnesCount8(o.Byte(start) &^ first))
	return n - int64(bits.OnesCount8(o.Byte(end-1)&^last))
}

func popCount(s string) (n int) {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		n += bits.OnesCount8(c)
	}
	return n
}

// bitPos looks for a clear bit behind the end too, unless an end was given: there the
// string counts as followed by zeros.
func bitPos(tx *Tx, a *Args) reply.Value {
	key, bit, r := a.Bytes(), a.Int(), bitRange{open: true}
	if bit != 0 && bit != 1 {
		a.Fail(errBitArgument)
	}
	readPosRange(a, &r)
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Int(-bit)
	}
	from, to := r.span(o.Len())
	if from >= to {
		return reply.Int(-1)
	}
	at := firstBit(o, from, to, bit == 1)
	if at < 0 && bit == 0 && r.open {
		at = to
	}
	return reply.Int(at)
}

// readPosRange judges the unit before the end, as Redis does.
func readPosRange(a *Args, r *bitRange) {
	if a.Left() > 0 {
		r.start = a.Int()
	}
	if a.Left() > 0 {
		end := a.Take(1)
		if a.Left() > 0 {
			r.unit(a)
		}
		n, ok := ParseInt(end[0])
		if !ok {
			a.Fail(ErrNotInteger)
		}
		r.end, r.open = n, false
	}
}

// firstBit is the place of the first bit that is set, or clear, -1 if there is none.
func firstBit(o *keyspace.Object, from, to int64, set bool) int64 {
	flip := byte(0xff) // clear bits become set ones
	if set {
		flip = 0
	}
	first, last, start, end := edges(from, to)
	at, found := start, int64(-1)
	o.Pieces(start, end, func(s string) bool {
		for i := 0; i < len(s); i++ {
			if at == start || at == end-1 || s[i] != flip {
				c := s[i] ^ flip
				if at == start {
					c &= first
				}
				if at == end-1 {
					c &= last
				}
				if c != 0 {
					found = int64(at)*8 + int64(bits.LeadingZeros8(c))
					return false
				}
			}
			at++
		}
		return true
	})
	return found
}
