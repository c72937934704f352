package geo

import (
	"math"
	"math/big"

	"github.com/trireme-dev/trireme/fsm/exact"
)

// Sines by double-double arithmetic. The math package will not do: some processors
// fuse its products and sums and one has instructions of its own, so results differ in
// the last bit; and stored distances shall be those of Redis, whose C library rounds
// nearly always to the nearest number, as this does.

// dd is the sum of a number and a much smaller one.
type dd struct{ hi, lo float64 }

// twoSum is a + b without error.
func twoSum(a, b float64) dd { return pair(exact.Sum(a, b)) }

// twoProduct is a * b without error.
func twoProduct(a, b float64) dd { return pair(exact.Product(a, b)) }

// quickSum is twoSum for numbers of which the second is the smaller.
func quickSum(a, b float64) dd { return pair(exact.QuickSum(a, b)) }

func pair(hi, lo float64) dd { return dd{hi, lo} }

func (d dd) add(b dd) dd {
	s := twoSum(d.hi, b.hi)
	return quickSum(s.hi, s.lo+(d.lo+b.lo))
}

func (d dd) neg() dd { return dd{-d.hi, -d.lo} }

func (d dd) mul(b dd) dd {
	p := twoProduct(d.hi, b.hi)
	return quickSum(p.hi, p.lo+(float64(d.hi*b.lo)+float64(d.lo*b.hi)))
}

func (d dd) value() float64 { return d.hi + d.lo }

const (
	steps   = 64 // of the table in a unit
	entries = 52 // up to a quarter of pi, and a step more
)

var (
	sines, cosines [entries]dd    // of 0, 1/64, 2/64 and so on
	halfPi         = [3]float64{} // half of pi in three parts
)

func init() {
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798", 10, 320, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	rest := pi.Quo(pi, big.NewFloat(2))
	for i := range halfPi {
		halfPi[i], _ = rest.Float64()
		rest = new(big.Float).SetPrec(320).Sub(rest, big.NewFloat(halfPi[i]))
	}
	for k := range sines {
		sines[k], cosines[k] = bigSinCos(float64(k) / steps)
	}
}

// bigSinCos sums the series in 200 bits, for the table.
func bigSinCos(x float64) (sin, cos dd) {
	number := func(f float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(f) }
	term, sums := number(1), [2]*big.Float{number(0), number(0)}
	for n := range 40 {
		if n > 0 {
			term.Mul(term, number(x))
			term.Quo(term, number(float64(n)))
		}
		if n%4 >= 2 {
			sums[n%2].Sub(sums[n%2], term)
		} else {
			sums[n%2].Add(sums[n%2], term)
		}
	}
	round := func(f *big.Float) (d dd) {
		d.hi, _ = f.Float64()
		d.lo, _ = new(big.Float).SetPrec(200).Sub(f, number(d.hi)).Float64()
		return d
	}
	return round(sums[1]), round(sums[0])
}

// maxAngle bounds the angles that are reduced exactly; beyond it no place on earth lies,
// and any result will do that is the same everywhere.
const maxAngle = 1 << 20

// sin is the sine of x radians.
func sin(x float64) float64 { return turn(x, 0) }

// cos is the cosine of x radians.
func cos(x float64) float64 { return turn(x, 1) }

// turn is the sine of x radians and that many right angles.
func turn(x float64, rightAngles int64) float64 {
	if !(math.Abs(x) < maxAngle) {
		x = math.Mod(x, 2*math.Pi) // exact, and NaN for what is no finite number
		if x != x {
			return x
		}
	}
	n := math.RoundToEven(x / (math.Pi / 2))
	r := dd{x, 0}
	for _, part := range halfPi {
		r = r.add(twoProduct(n, part).neg())
	}
	s, c := sinCos(r)
	switch (int64(n) + rightAngles) & 3 {
	case 0:
		return s.value()
	case 1:
		return c.value()
	case 2:
		return -s.value()
	}
	return -c.value()
}

// sinCos is for angles up to a quarter of pi, and a little more: a step of the table,
// turned by the small rest.
func sinCos(r dd) (sin, cos dd) {
	if r.hi < 0 {
		sin, cos = sinCos(r.neg())
		return sin.neg(), cos
	}
	k := int(math.RoundToEven(r.hi * steps))
	t := r.add(dd{-float64(k) / steps, 0})
	s, c := smallSinCos(t)
	sin = sines[k].mul(c).add(cosines[k].mul(s))
	cos = cosines[k].mul(c).add(sines[k].mul(s).neg())
	return sin, cos
}

// smallSinCos is for angles below 1/100: what follows the first term of a series is so
// small that doubles are good enough for it.
func smallSinCos(t dd) (sin, cos dd) {
	x := float64(t.hi * t.hi)
	s := float64(x*(-1.0/6)) + float64(float64(x*x)*(1.0/120+float64(x*(-1.0/5040))))
	c := float64(float64(x*x) * (1.0/24 + float64(x*(-1.0/720))))
	half := t.mul(t)
	half = dd{half.hi * -0.5, half.lo * -0.5}
	return t.add(dd{float64(t.hi * s), 0}), dd{1, 0}.add(half).add(dd{c, 0})
}

// asin is the angle, in radians, of a sine between 0 and 1; NaN for others.
func asin(y float64) float64 {
	switch {
	case !(y >= 0 && y <= 1):
		return math.NaN()
	case y <= 0.5:
		return smallAsin(dd{y, 0}).value()
	}
	// The complement of twice the angle of sqrt((1-y)/2); both steps before the root are
	// exact.
	w := (1 - y) / 2
	root := math.Sqrt(w)
	if root == 0 {
		return halfPi[0]
	}
	square := twoProduct(root, root)
	angle := smallAsin(dd{root, ((w - square.hi) - square.lo) / (2 * root)})
	return dd{halfPi[0], halfPi[1]}.add(dd{-2 * angle.hi, -2 * angle.lo}).value()
}

// smallAsin is for sines up to a half, and a little more: an approximation by the
// series, and one step of Newton's.
func smallAsin(y dd) dd {
	x := float64(y.hi * y.hi)
	term, sum := y.hi, y.hi
	for n := 1.0; n < 40; n += 2 {
		term = float64(term*x) * n / (n + 1)
		sum += term / (n + 2)
	}
	s, c := sinCos(dd{sum, 0})
	return dd{sum, 0}.add(dd{y.add(s.neg()).value() / c.hi, 0})
}
