package reply

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestFormatDouble(t *testing.T) {
	for want, f := range map[string]float64{
		"0": 0, "-0": math.Copysign(0, -1), "1": 1, "-3": -3, "inf": math.Inf(1), "-inf": math.Inf(-1), "nan": math.NaN(),
		"4611686018427387904": 1 << 62, "-4611686018427387904": -(1 << 62), "4611686018427389000": 4611686018427388928, "9223372036854776000": 1 << 63,
		"0.1": 0.1, "0.30000000000000004": 0.1 + float64(0.2), "0.000001": 1e-6, "1e-7": 1e-7, "1.5e-7": 1.5e-7, "123456.789": 123456.789,
		"1e+19": 1e19, "1.23456789e-4": 1.23456789e-4, "1.2345678901234567e+4": 12345.678901234567, "1.7976931348623157e+308": math.MaxFloat64,
		"5e-324": math.SmallestNonzeroFloat64, "-2.5": -2.5, "3.3": 3.3, "0.001": 0.001, "1.2345678": 1.2345678, "12345678901234567000": 12345678901234567000,
	} {
		if got := FormatDouble(f); got != want {
			t.Errorf("%s printed as %s", want, got)
		}
	}
}

func TestFormatDoubleReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) {
			return
		}
		got, err := strconv.ParseFloat(FormatDouble(f), 64)
		if err != nil || math.Float64bits(got) != math.Float64bits(f) {
			t.Fatalf("%v printed as %s", f, FormatDouble(f))
		}
	})
}
