package sealed

import (
	"encoding/binary"
	"slices"
)

// Numbers is a set of numbers, as varints: the greatest, the least, and then by how much each is greater than the one before it.
type Numbers string

// NumbersOf makes the set of a list, which it sorts.
func NumbersOf(list []uint64) Numbers {
	if len(list) == 0 {
		return ""
	}
	slices.Sort(list)
	b := binary.AppendUvarint(nil, list[len(list)-1])
	var before uint64
	for _, n := range slices.Compact(list) {
		b = binary.AppendUvarint(b, n-before)
		before = n
	}
	return Numbers(b)
}

// Has reports whether a number is in the set.
func (nu Numbers) Has(n uint64) bool {
	most, size := uvarint(nu)
	if n > most {
		return false
	}
	var sum uint64
	for rest := nu[size:]; rest != ""; {
		delta, size := uvarint(rest)
		if size <= 0 {
			return false
		}
		if sum += delta; sum >= n {
			return sum == n
		}
		rest = rest[size:]
	}
	return false
}

func uvarint(nu Numbers) (v uint64, size int) {
	for shift := 0; size < len(nu) && size < binary.MaxVarintLen64; shift += 7 {
		b := nu[size]
		size++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, size
		}
	}
	return 0, 0
}
