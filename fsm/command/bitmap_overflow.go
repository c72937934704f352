package command

import "math"

// fieldType is an integer of 1 to 64 bits, of 63 if it has no sign.
type fieldType struct {
	signed bool
	width  int
}

// overflow says what becomes of a value that does not fit.
type overflow uint8

const (
	wrap overflow = iota
	saturate
	fail
)

// value reads the lowest bits of raw as an integer of the type.
func (ft fieldType) value(raw uint64) int64 {
	if ft.signed {
		return int64(raw<<(64-ft.width)) >> (64 - ft.width)
	}
	return int64(raw)
}

// bounds are the least and the greatest value of the type.
func (ft fieldType) bounds() (least, greatest int64) {
	if ft.signed {
		greatest = math.MaxInt64 >> (64 - ft.width)
		return -greatest - 1, greatest
	}
	return 0, 1<<ft.width - 1
}

// add is v + n in the type, and whether that did not fit. A value without a sign is
// first read as one of 64 bits, so that a negative one is too great, as in Redis.
func (ft fieldType) add(v, n int64, o overflow) (sum int64, over bool) {
	least, greatest := ft.bounds()
	above := v > greatest || n > 0 && v > greatest-n
	below := v < least || n < 0 && v < 0 && v < least-n || n < 0 && v >= 0 && v+n < least
	if !ft.signed && v < 0 {
		above, below = true, false
	}
	switch {
	case !above && !below:
		return v + n, false
	case o != saturate:
		return ft.value(uint64(v+n) & (math.MaxUint64 >> (64 - ft.width))), true
	case above:
		return greatest, true
	}
	return least, true
}
