package exact

// Sum is a + b as the nearest double and the rest.
func Sum(a, b float64) (hi, lo float64) {
	s := a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// QuickSum is Sum for numbers of which the second is not the larger.
func QuickSum(a, b float64) (hi, lo float64) {
	s := a + b
	return s, b - (s - a)
}

// Product is a * b as the nearest double and the rest, for factors far from the ends of
// the range.
func Product(a, b float64) (hi, lo float64) {
	p := float64(a * b)
	ah, al := Split(a)
	bh, bl := Split(b)
	return p, float64(al*bl) - (((p - float64(ah*bh)) - float64(al*bh)) - float64(ah*bl))
}

// Split cuts a number into two of 26 bits.
func Split(a float64) (hi, lo float64) {
	c := float64(a * (1<<27 + 1))
	hi = c - (c - a)
	return hi, a - hi
}
