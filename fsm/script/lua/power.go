package lua

import (
	"math"
	"math/big"

	"github.com/trireme-dev/trireme/fsm/exact"
)

// Powers, exponentials and logarithms by double-double arithmetic: those of package math
// are not the same on every processor. The results are nearly always the number nearest
// to the true one, as those of the C library are.

// powerCost is the cost of a power or a logarithm in steps, and powerMore the additional cost of a power: one of numbers
// near the ends of their range takes as long as several.
const (
	powerCost = 60
	powerMore = 90
)

// pair is the sum of a number and a much smaller one.
type pair struct{ hi, lo float64 }

func pairOf(hi, lo float64) pair { return pair{hi, lo} }

func sum(a, b float64) pair { return pairOf(exact.Sum(a, b)) }

// settle is the sum of numbers of which the second is the smaller.
func settle(a, b float64) pair { return pairOf(exact.QuickSum(a, b)) }

// product is a * b without error.
func product(a, b float64) pair { return pairOf(exact.Product(a, b)) }

func (pa pair) plus(b pair) pair {
	s := sum(pa.hi, b.hi)
	t := sum(pa.lo, b.lo)
	s = settle(s.hi, s.lo+t.hi)
	return settle(s.hi, s.lo+t.lo)
}

func (pa pair) times(b pair) pair {
	p := product(pa.hi, b.hi)
	return settle(p.hi, p.lo+(float64(pa.hi*b.lo)+float64(pa.lo*b.hi)))
}

// over is a quotient by two steps of division.
func (pa pair) over(b pair) pair {
	q := pa.hi / b.hi
	rest := pa.plus(b.times(pair{-q, 0}))
	q2 := rest.hi / b.hi
	rest = rest.plus(b.times(pair{-q2, 0}))
	return settle(q, q2).plus(pair{rest.hi / b.hi, 0})
}

// constantPair reads a constant of many digits.
func constantPair(digits string) pair {
	f, _, err := big.ParseFloat(digits, 10, 200, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	hi, _ := f.Float64()
	lo, _ := new(big.Float).Sub(f, big.NewFloat(hi)).Float64()
	return pair{hi, lo}
}

var (
	ln2  = constantPair("0.693147180559945309417232121458176568075500134360255254120680009")
	ln10 = constantPair("2.302585092994045684017991454684364207601101488628772976033327900967572609677")
	// inverse are 1/n.
	inverse [48]pair
)

func init() {
	for i := 1; i < len(inverse); i++ {
		inverse[i] = pair{1, 0}.over(pair{float64(i), 0})
	}
}

// expPair is e to the power of x as a pair and a power of two. x lies within ±800.
func expPair(x pair) (pair, int) {
	k := math.Floor(x.hi/ln2.hi + 0.5)
	r := x.plus(ln2.times(pair{-k, 0}))
	const halvings = 6
	r = pair{math.Ldexp(r.hi, -halvings), math.Ldexp(r.lo, -halvings)}
	// e^r - 1 by its series; squaring then keeps the small part exact.
	term, total := r, r
	for i := 2; i < 14; i++ {
		term = term.times(r).times(inverse[i])
		total = total.plus(term)
	}
	for range halvings {
		total = total.times(total).plus(pair{2 * total.hi, 2 * total.lo})
	}
	return total.plus(pair{1, 0}), int(k)
}

// logPair is the natural logarithm of a positive number.
func logPair(x float64) pair {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	s := sum(m, -1).over(sum(m, 1))
	square := s.times(s)
	term, total := s, s
	for i := 3; i < len(inverse); i += 2 {
		term = term.times(square)
		total = total.plus(term.times(inverse[i]))
	}
	return pair{2 * total.hi, 2 * total.lo}.plus(ln2.times(pair{float64(e), 0}))
}

func exponential(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	p, k := expPair(pair{x, 0})
	return scale(p, k)
}

// scale is a pair times a power of two, rounded once.
func scale(p pair, k int) float64 {
	if k > -1000 {
		return math.Ldexp(p.hi+p.lo, k)
	}
	f := new(big.Float).SetPrec(200).SetFloat64(p.hi)
	f.Add(f, big.NewFloat(p.lo))
	f.SetMantExp(f, k)
	v, _ := f.Float64()
	return v
}

func logarithm(x float64) float64 {
	switch {
	case x < 0:
		return negativeNaN
	case x == 0:
		return math.Inf(-1)
	case x != x || math.IsInf(x, 1):
		return x
	}
	p := logPair(x)
	return p.hi + p.lo
}

func logarithm10(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return logarithm(x)
	}
	p := logPair(x).over(ln10)
	return p.hi + p.lo
}

// power is x^y with the special cases of C.
func power(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case y == 1:
		return x
	case y == 2:
		return float64(x * x)
	case x != x || y != y:
		return math.NaN()
	case x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return powerAtEnds(x, y)
	}
	whole := math.Trunc(y) == y
	if x < 0 && !whole {
		return negativeNaN
	}
	negative := x < 0 && math.Mod(y, 2) != 0
	r := magnitude(math.Abs(x), y)
	if negative {
		return -r
	}
	return r
}

// powerAtEnds is power where the base is 0 or either is infinite.
func powerAtEnds(x, y float64) float64 {
	odd := math.Trunc(y) == y && math.Abs(math.Mod(y, 2)) == 1
	if math.IsInf(y, 0) {
		switch a := math.Abs(x); {
		case a == 1:
			return 1
		case (a > 1) == (y > 0):
			return math.Inf(1)
		}
		return 0
	}
	r := 0.0
	if (x == 0) == (y < 0) {
		r = math.Inf(1)
	}
	if odd {
		return math.Copysign(r, x)
	}
	return r
}

// magnitude is x^y for a finite positive x and a finite y.
func magnitude(x, y float64) float64 {
	l := logPair(x)
	switch power := float64(l.hi * y); {
	case power > 710:
		return math.Inf(1)
	case power < -746:
		return 0
	}
	p, k := expPair(l.times(pair{y, 0}))
	return scale(p, k)
}

func sinh(x float64) float64 {
	if a := math.Abs(x); a < 1 {
		square := float64(x * x)
		term, total := x, x
		for i := 2.0; i < 24; i += 2 {
			term = float64(term*square) / (i * (i + 1))
			total += term
		}
		return total
	}
	return halfDifference(x, -1)
}

func cosh(x float64) float64 { return halfDifference(x, 1) }

// halfDifference is (e^x + sign e^-x) / 2.
func halfDifference(x, sign float64) float64 {
	if math.Abs(x) > 700 {
		half := exponential(math.Abs(x) / 2)
		r := float64(half*half) / 2
		if x < 0 {
			return sign * r
		}
		return r
	}
	return (exponential(x) + float64(sign*exponential(-x))) / 2
}

func tanh(x float64) float64 {
	switch {
	case x > 22:
		return 1
	case x < -22:
		return -1
	}
	return sinh(x) / cosh(x)
}
