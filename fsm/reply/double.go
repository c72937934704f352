package reply

import (
	"math"
	"strconv"
	"strings"
)

// maxPlainInteger is half the range of 64-bit integers: integral numbers up to it
// print as integers.
const maxPlainInteger = 1 << 62

// Number is a Double printed as FormatDouble does.
func Number(f float64) Value { return Double(f, FormatDouble(f)) }

// FormatDouble prints a number as Redis prints scores since 7.2: the shortest
// digits that read back to the same number, in a layout of its own.
func FormatDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return map[bool]string{true: "-inf", false: "inf"}[f < 0]
	case f == 0 && math.Signbit(f):
		return "-0"
	case f >= -maxPlainInteger && f <= maxPlainInteger && f == math.Trunc(f):
		return strconv.FormatInt(int64(f), 10)
	}
	var buf [32]byte
	digits, power := shortest(strconv.AppendFloat(buf[:0], math.Abs(f), 'e', -1, 64))
	text := layout(digits, power)
	if f < 0 {
		return "-" + text
	}
	return text
}

// shortest cuts a number of the form d.ddde±dd into its digits and the power of ten
// of the last one.
func shortest(b []byte) (digits string, power int) {
	mantissa, exponent, _ := strings.Cut(string(b), "e")
	power, _ = strconv.Atoi(exponent) // strconv wrote it
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return whole + fraction, power - len(fraction)
}

// layout places the point: plain where that stays short, otherwise an exponent
// without padding.
func layout(digits string, power int) string {
	n := len(digits)
	lead := power + n - 1 // the power of ten of the first digit
	size := max(lead, -lead)
	switch {
	case power >= 0 && size < n+7:
		return digits + strings.Repeat("0", power)
	case power < 0 && (power > -7 || size < 4):
		if at := n + power; at > 0 {
			return digits[:at] + "." + digits[at:]
		}
		return "0." + strings.Repeat("0", -power-n) + digits
	}
	text := digits[:1]
	if n > 1 {
		text += "." + digits[1:]
	}
	if lead < 0 {
		return text + "e-" + strconv.Itoa(size)
	}
	return text + "e+" + strconv.Itoa(size)
}
