package jsondoc

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestWholeNumbers compares sums and products of integers with those of package big, at the edges of 32 and 64 bits above all.
func TestWholeNumbers(t *testing.T) {
	edges := []int64{0, 1, -1, 2, -2, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt32 - 1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 62}
	number := rapid.OneOf(rapid.SampledFrom(edges), rapid.Int64())
	rapid.Check(t, func(t *rapid.T) {
		x, y := number.Draw(t, "x"), number.Draw(t, "y")
		for name, op := range map[string]struct {
			is   Operation
			want *big.Int
		}{
			"sum": {Add, new(big.Int).Add(big.NewInt(x), big.NewInt(y))}, "product": {Multiply, new(big.Int).Mul(big.NewInt(x), big.NewInt(y))},
		} {
			got, ok := op.is(Int(x), Int(y))
			want, whole := narrow(op.want)
			if !whole {
				f, _ := new(big.Float).SetInt(op.want).Float64()
				if d, isDouble := got.(Double); !ok || !isDouble || math.Abs(float64(d)-f) > math.Abs(f)*1e-15 {
					t.Errorf("the %s of %d and %d is %v, want %g", name, x, y, got, f)
				}
			} else if !ok || got != want {
				t.Errorf("the %s of %d and %d is %v (%t), want %v", name, x, y, got, ok, want)
			}
		}
	})
}
