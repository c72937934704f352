package geo

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigSin is the sine of x by its series, to many digits.
func bigSin(x *big.Float) *big.Float {
	sum, term := new(big.Float).SetPrec(400), new(big.Float).SetPrec(400).Copy(x)
	square := new(big.Float).SetPrec(400).Mul(x, x)
	for n := 1; n < 120; n += 2 {
		sum.Add(sum, term)
		term.Mul(term, square)
		term.Quo(term, new(big.Float).SetPrec(400).SetInt64(int64((n+1)*(n+2))))
		term.Neg(term)
	}
	return sum
}

func bigPi() *big.Float {
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460955", 10, 400, big.ToNearestEven)
	return pi
}

// TestSines compares with results rounded once from many digits: hardly any may differ,
// and none by more than the last bit.
func TestSines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 3000
	wrong := map[string]int{}
	judge := func(name string, x, got, want float64) {
		if got == want {
			return
		}
		wrong[name]++
		if math.Abs(got-want) > math.Abs(math.Nextafter(want, 2)-want)*1.01 {
			t.Errorf("%s of %v: %v, want %v", name, x, got, want)
		}
	}
	for range n {
		x := (r.Float64()*2 - 1) * math.Pi
		if r.IntN(2) == 0 {
			x = math.Ldexp(x, -r.IntN(60))
		}
		wide := new(big.Float).SetPrec(400).SetFloat64(x)
		want, _ := bigSin(wide).Float64()
		judge("sin", x, sin(x), want)
		quarter := new(big.Float).SetPrec(400).Quo(bigPi(), big.NewFloat(2))
		want, _ = bigSin(quarter.Sub(quarter, wide)).Float64()
		judge("cos", x, cos(x), want)
		y := math.Abs(math.Sin(x))
		judge("asin", y, asin(y), bigAsin(y))
	}
	for name, k := range wrong {
		if k > n/500 {
			t.Errorf("%s: %d of %d are not rounded to the nearest", name, k, n)
		}
	}
}

// bigAsin finds the angle by Newton's steps.
func bigAsin(y float64) float64 {
	wide := new(big.Float).SetPrec(400).SetFloat64(y)
	x := new(big.Float).SetPrec(400).SetFloat64(math.Asin(y))
	for range 4 {
		s := bigSin(x)
		cosine := new(big.Float).SetPrec(400).Mul(s, s)
		cosine.Sub(new(big.Float).SetPrec(400).SetInt64(1), cosine)
		if cosine.Sign() <= 0 {
			break
		}
		step := new(big.Float).SetPrec(400).Sub(wide, s)
		x.Add(x, step.Quo(step, cosine.Sqrt(cosine)))
	}
	f, _ := x.Float64()
	return f
}

func TestSinesAtTheEdges(t *testing.T) {
	for name, c := range map[string]struct{ got, want float64 }{
		"sin 0": {sin(0), 0}, "cos 0": {cos(0), 1}, "asin 0": {asin(0), 0}, "asin 1": {asin(1), math.Pi / 2}, "asin 1/2": {asin(0.5), math.Pi / 6},
		"sin pi": {sin(math.Pi), 1.2246467991473532e-16}, "cos pi": {cos(math.Pi), -1}, "tiny": {sin(1e-310), 1e-310},
	} {
		if math.Abs(c.got-c.want) > 1e-15*math.Abs(c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if f := cos(x); f == f {
			t.Errorf("cos %v is %v", x, f)
		}
	}
	if f := cos(1e300); !(f >= -1 && f <= 1) {
		t.Errorf("cos of a great angle is %v", f)
	}
	if f := asin(1.1); f == f {
		t.Errorf("asin 1.1 is %v", f)
	}
}

var result float64

func BenchmarkDistance(b *testing.B) {
	for b.Loop() {
		result = Distance(Point{13.361389, 38.115556}, Point{15.087269, 37.502669})
	}
}
