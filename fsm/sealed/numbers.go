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
func (nu Numbers) Has(n uint64) (has bool) {
	if most, _ := uvarint(nu); n > most {
		return false
	}
	nu.Each(func(other uint64) bool {
		has = other == n
		return other < n
	})
	return has
}

// Below returns the greatest number of the set below one, 0 if there is none.
func (nu Numbers) Below(n uint64) (greatest uint64) {
	nu.Each(func(other uint64) bool {
		if other < n {
			greatest = other
		}
		return other < n
	})
	return greatest
}

// Each calls f for the numbers in their order until it returns false.
func (nu Numbers) Each(f func(n uint64) bool) {
	if nu == "" {
		return
	}
	_, size := uvarint(nu)
	var sum uint64
	for rest := nu[size:]; rest != ""; rest = rest[size:] {
		var delta uint64
		if delta, size = uvarint(rest); size == 0 {
			return
		}
		if sum += delta; !f(sum) {
			return
		}
	}
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
