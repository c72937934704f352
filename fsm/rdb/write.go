package rdb

import (
	"encoding/binary"
	"math"

	"github.com/trireme-dev/trireme/fsm/listpack"
)

// writer appends values to b.
type writer struct {
	b []byte
	// withoutDeadlines writes hashes without the deadlines of their fields, and then sets undated for one that has some.
	withoutDeadlines, undated bool
}

func (w *writer) length(n uint64) {
	switch {
	case n < 1<<6:
		w.b = append(w.b, byte(n))
	case n < 1<<14:
		w.b = append(w.b, length14<<6|byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		w.b = binary.BigEndian.AppendUint32(append(w.b, length32), uint32(n))
	default:
		w.b = binary.BigEndian.AppendUint64(append(w.b, length64), n)
	}
}

const (
	// shortInt is the greatest length of a string that is tried as an integer.
	shortInt = 11
	// longRaw is the greatest length of a string that is not compressed.
	longRaw = 20
	// lzfGain is the least number of bytes that LZF has to save.
	lzfGain = 4
)

// text writes a string: as an integer of up to 32 bits, packed, or as it is.
func (w *writer) text(s string) {
	if len(s) <= shortInt {
		if n, ok := listpack.ParseInt(s); ok && w.int(n) {
			return
		}
	}
	if len(s) > longRaw {
		if b := lzf(s, len(s)-lzfGain); b != nil {
			w.b = append(w.b, special<<6|packed)
			w.length(uint64(len(b)))
			w.length(uint64(len(s)))
			w.b = append(w.b, b...)
			return
		}
	}
	w.length(uint64(len(s)))
	w.b = append(w.b, s...)
}

// int writes a string that is an integer, if it has at most 32 bits.
func (w *writer) int(n int64) bool {
	switch {
	case n == int64(int8(n)):
		w.b = append(w.b, special<<6|int8s, byte(n))
	case n == int64(int16(n)):
		w.b = binary.LittleEndian.AppendUint16(append(w.b, special<<6|int16s), uint16(n))
	case n == int64(int32(n)):
		w.b = binary.LittleEndian.AppendUint32(append(w.b, special<<6|int32s), uint32(n))
	default:
		return false
	}
	return true
}

func (w *writer) millis(at int64) { w.b = binary.LittleEndian.AppendUint64(w.b, uint64(at)) }

func (w *writer) double(f float64) {
	w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(f))
}

func (w *writer) kind(t Type) { w.b = append(w.b, byte(t)) }
