package jsondoc

import (
	"math"
	"math/big"
)

// Operation makes a number of two; it is not ok if the result is no finite number.
// Integers give an integer as long as 64 bits hold it, then a double.
type Operation func(a, b Value) (result Value, ok bool)

// Add is the Operation of JSON.NUMINCRBY.
func Add(a, b Value) (Value, bool) {
	if x, y, ok := ints(a, b); ok {
		if sum := x + y; (sum > x) == (y > 0) {
			return sum, true
		}
	}
	x, y := whole(a), whole(b)
	if x != nil && y != nil {
		if n, ok := narrow(x.Add(x, y)); ok {
			return n, true
		}
	}
	return double(a, b, func(x, y float64) float64 { return x + y })
}

// Multiply is the Operation of JSON.NUMMULTBY.
func Multiply(a, b Value) (Value, bool) {
	if x, y, ok := ints(a, b); ok {
		if int64(int32(x)) == int64(x) && int64(int32(y)) == int64(y) {
			return x * y, true
		}
	}
	x, y := whole(a), whole(b)
	if x != nil && y != nil {
		if n, ok := narrow(x.Mul(x, y)); ok {
			return n, true
		}
	}
	return double(a, b, func(x, y float64) float64 { return x * y })
}

// Power is the Operation of JSON.NUMPOWBY.
func Power(a, b Value) (Value, bool) {
	x, y := whole(a), whole(b)
	if x != nil && y != nil && y.Sign() >= 0 {
		if n, ok := wholePower(x, y); ok {
			return n, true
		}
	}
	return double(a, b, power)
}

// ints are two numbers that are both Int.
func ints(a, b Value) (x, y Int, ok bool) {
	x, ok = a.(Int)
	if !ok {
		return 0, 0, false
	}
	y, ok = b.(Int)
	return x, y, ok
}

// whole is an integer, nil of any other number.
func whole(v Value) *big.Int {
	switch v := v.(type) {
	case Int:
		return big.NewInt(int64(v))
	case Uint:
		return new(big.Int).SetUint64(uint64(v))
	}
	return nil
}

// narrow is n in 64 bits.
func narrow(n *big.Int) (Value, bool) {
	switch {
	case n.IsInt64():
		return Int(n.Int64()), true
	case n.IsUint64():
		return Uint(n.Uint64()), true
	}
	return nil, false
}

// wholePower is x to the y, which is not negative, if 64 bits hold it.
func wholePower(x, y *big.Int) (Value, bool) {
	if x.CmpAbs(big.NewInt(1)) <= 0 { // the parity of y is all that counts, and whether it is 0
		if y.Sign() > 0 {
			y = big.NewInt(2 - int64(y.Bit(0)))
		}
	} else if y.Cmp(big.NewInt(64)) > 0 {
		return nil, false
	}
	return narrow(x.Exp(x, y, nil))
}

func double(a, b Value, op func(x, y float64) float64) (Value, bool) {
	x, xok := float(a)
	y, yok := float(b)
	if !xok || !yok {
		return nil, false
	}
	f := op(x, y)
	return Double(f), !math.IsNaN(f) && !math.IsInf(f, 0)
}

// powerBits is the precision that powers are computed with before they are rounded to a
// double: enough that the rounding is right, on every processor the same.
const powerBits = 256

// power is x to the y without the functions of math, which differ between processors.
func power(x, y float64) float64 {
	odd := y == math.Trunc(y) && math.Mod(y, 2) != 0
	switch {
	case y == 0 || x == 1:
		return 1
	case x == 0 && y < 0:
		return math.Inf(1)
	case x == 0:
		return 0
	case x < 0 && y != math.Trunc(y):
		return math.NaN()
	}
	exponent := newFloat(y)
	exponent.Mul(exponent, logarithm(newFloat(math.Abs(x))))
	f := exponential(exponent)
	if x < 0 && odd {
		return -f
	}
	return f
}

func newFloat(f float64) *big.Float { return new(big.Float).SetPrec(powerBits).SetFloat64(f) }

// logarithm is the natural one of x, which is above 0.
func logarithm(x *big.Float) *big.Float {
	mantissa := newFloat(0)
	exp := x.MantExp(mantissa) // in [0.5, 1)
	if mantissa.Cmp(newFloat(math.Sqrt2/2)) < 0 {
		mantissa.Mul(mantissa, newFloat(2))
		exp--
	}
	one := newFloat(1)
	t := newFloat(0).Quo(newFloat(0).Sub(mantissa, one), newFloat(0).Add(mantissa, one))
	result := areaTangent(t)
	return result.Add(result, newFloat(0).Mul(logarithm2(), newFloat(float64(exp))))
}

// logarithm2 is the natural logarithm of 2.
func logarithm2() *big.Float { return areaTangent(newFloat(0).Quo(newFloat(1), newFloat(3))) }

// areaTangent is twice the inverse hyperbolic tangent of t, which is a third at most.
func areaTangent(t *big.Float) *big.Float {
	square := newFloat(0).Mul(t, t)
	sum, term := newFloat(0), newFloat(0).Add(t, t)
	for k := 1; k < powerBits; k += 2 { // each term has at least three bits less
		sum.Add(sum, newFloat(0).Quo(term, newFloat(float64(k))))
		term.Mul(term, square)
	}
	return sum
}

// The powers of e beyond which a double is infinite or 0.
const (
	greatestExponent = 710
	leastExponent    = -746
)

// exponential is e to the x as a double.
func exponential(x *big.Float) float64 {
	near, _ := x.Float64()
	switch {
	case near > greatestExponent:
		return math.Inf(1)
	case near < leastExponent:
		return 0
	}
	ln2 := logarithm2()
	k := int(math.Round(near / math.Ln2))
	rest := newFloat(0).Sub(x, newFloat(0).Mul(ln2, newFloat(float64(k)))) // below 0.35
	sum, term := newFloat(1), newFloat(1)
	for n := 1; n < powerBits/4; n++ { // each term has at least four bits less, on the whole
		term.Mul(term, newFloat(0).Quo(rest, newFloat(float64(n))))
		sum.Add(sum, term)
	}
	f, _ := sum.SetMantExp(sum, k).Float64()
	return f
}
