package jsondoc

import (
	"math"
	"strconv"
	"strings"
)

// parseNumber reads text that has the form of a JSON number: an integer of 64 bits as
// such, everything else as a double. Negative zero is a double, as in serde_json. It is
// not ok if no finite double is near.
func parseNumber(text string) (Value, bool) {
	if !strings.ContainsAny(text, ".eE") && text != "-0" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Int(n), true
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return Uint(n), true
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	return Double(f), err == nil
}

// The powers of ten between which a double is written without an exponent.
const (
	leastPlain = -5
	mostPlain  = 16
)

// appendDouble writes f with the fewest digits that read back as f, always with a point
// or an exponent, in the layout of serde_json.
func appendDouble(dst []byte, f float64) []byte {
	if math.Signbit(f) {
		dst, f = append(dst, '-'), -f
	}
	if f == 0 {
		return append(dst, "0.0"...)
	}
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, 64) // d.ddde±xx
	mantissa, power, _ := strings.Cut(string(text), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	exp, _ := strconv.Atoi(power)
	point := exp + 1 // digits before the decimal point
	switch {
	case len(digits) <= point && point <= mostPlain:
		dst = append(append(dst, digits...), strings.Repeat("0", point-len(digits))...)
		return append(dst, ".0"...)
	case 0 < point && point <= mostPlain:
		return append(append(append(dst, digits[:point]...), '.'), digits[point:]...)
	case leastPlain < point && point <= 0:
		return append(append(append(dst, "0."...), strings.Repeat("0", -point)...), digits...)
	}
	dst = append(dst, digits[0])
	if len(digits) > 1 {
		dst = append(append(dst, '.'), digits[1:]...)
	}
	return strconv.AppendInt(append(dst, 'e'), int64(exp), 10)
}
