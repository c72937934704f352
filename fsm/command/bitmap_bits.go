package command

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errBitOffset = reply.Error("ERR bit offset is not an integer or out of range")
	errBit       = reply.Error("ERR bit is not an integer or out of range")
)

// maxBits is the number of bits of the longest string.
const maxBits = maxString * 8

// bitOffset reads the place of a bit. With a width, #n counts in integers of it.
func (a *Args) bitOffset(width int64) int64 {
	word, unit := a.Bytes(), int64(1)
	if width > 0 && len(word) > 0 && word[0] == '#' {
		word, unit = word[1:], width
	}
	n, ok := ParseInt(word)
	if !ok || n < 0 || n > math.MaxInt64/unit || n*unit >= maxBits {
		a.Fail(errBitOffset)
		return 0
	}
	return n * unit
}

func getBit(tx *Tx, a *Args) reply.Value {
	key, at := a.Bytes(), a.bitOffset(0)
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	return reply.Int(int64(o.Byte(int(at/8)) >> (7 - at%8) & 1))
}

func setBit(tx *Tx, a *Args) reply.Value {
	key, at := a.Bytes(), a.bitOffset(0)
	bit := a.IntOr(errBit)
	if bit != 0 && bit != 1 {
		a.Fail(errBit)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	place, shift := int(at/8), 7-at%8
	old := o.Byte(place)
	changed := old&^(1<<shift) | byte(bit)<<shift
	if place >= o.Len() || changed != old {
		tx.DB.WriteAt(tx.Env, key, o, place, []byte{changed})
		tx.Event(StringEvent, "setbit", key)
	}
	return reply.Int(int64(old >> shift & 1))
}
