package exact_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/exact"
)

// TestNothingIsLost compares sums and products with exact arithmetic.
func TestNothingIsLost(t *testing.T) {
	number := func(f float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(f) }
	same := func(t *rapid.T, what string, want *big.Float, hi, lo float64) {
		if got := new(big.Float).SetPrec(2200).Add(number(hi), number(lo)); got.Cmp(want) != 0 {
			t.Fatalf("%s is %v and %v, want %v", what, hi, lo, want)
		}
		if nearest, _ := want.Float64(); nearest != hi {
			t.Fatalf("%s: %v is not the nearest, %v is", what, hi, nearest)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Float64Range(-1e100, 1e100).Draw(t, "a"), rapid.Float64Range(-1e100, 1e100).Draw(t, "b")
		hi, lo := exact.Sum(a, b)
		same(t, "the sum", new(big.Float).SetPrec(2200).Add(number(a), number(b)), hi, lo)
		if max(a, -a) >= max(b, -b) {
			if h, l := exact.QuickSum(a, b); h != hi || l != lo {
				t.Fatalf("%v and %v, not %v and %v", h, l, hi, lo)
			}
		}
		if a, b = a+1e-20, b+1e-20; max(a, -a) < 1e-100 || max(b, -b) < 1e-100 {
			return // the rest of a product would be too small for a double
		}
		hi, lo = exact.Product(a, b)
		same(t, "the product", new(big.Float).SetPrec(2200).Mul(number(a), number(b)), hi, lo)
	})
}
