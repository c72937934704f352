package clock

import "slices"

// Median returns the median of wall clocks, as offsets in milliseconds from any one of them, of voters servers in all.
// known is false unless a majority of all agrees within SaneOffset: of two clocks that differ either may be right. Of
// an even number it is the lower one: what is due then is never due too early.
func Median(offsets []int64, voters int) (offset int64, known bool) {
	offsets = slices.Sorted(slices.Values(offsets))
	best, from := 0, 0
	for i := range offsets {
		n := 0
		for _, o := range offsets[i:] {
			if o-offsets[i] < SaneOffset {
				n++
			}
		}
		if n > best {
			best, from = n, i
		}
	}
	if best < voters/2+1 {
		return 0, false
	}
	return offsets[from+(best-1)/2], true
}
