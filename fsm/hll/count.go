package hll

import "math"

// alphaInf is 1 / (2 ln 2).
const alphaInf = 0.721347520444481703680

// Count estimates how many distinct elements a sketch has counted.
func (s *Sketch) Count() (uint64, error) {
	if n, ok := s.cached(); ok {
		return n, nil
	}
	var h histogram
	if s.Dense() {
		for i := range registers {
			h[s.register(i)]++
		}
		return h.estimate(), nil
	}
	err := s.runs(func(from, to int, rank byte) { h[rank] += to - from })
	return h.estimate(), err
}

// Count estimates how many distinct elements the merged sketches have counted.
func (r *Registers) Count() uint64 {
	var h histogram
	for _, rank := range r {
		h[rank]++
	}
	return h.estimate()
}

// histogram counts the registers of each rank.
type histogram [1 << width]int

// estimate is Ertl's estimator of 2017 (arXiv 1702.01284). It needs only sums, products
// and roots, which are the same on every processor as long as no product is fused with
// a sum: hence the conversions.
func (h *histogram) estimate() uint64 {
	const m = float64(registers)
	z := float64(m * tau((m-float64(h[hashBits+1]))/m))
	for j := hashBits; j >= 1; j-- {
		z += float64(h[j])
		z *= 0.5
	}
	z += float64(m * sigma(float64(h[0])/m))
	return uint64(math.Round(float64(float64(alphaInf*m)*m) / z))
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		rest := 1 - x
		z -= float64(float64(rest*rest) * y)
		if z == before {
			return z / 3
		}
	}
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x = float64(x * x)
		before := z
		z += float64(x * y)
		y += y
		if z == before {
			return z
		}
	}
}
