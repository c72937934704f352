package command

import (
	"math/big"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
)

// The x87 long double that Redis computes with on the usual processors: 64 bits of
// mantissa and 15 of exponent. Numbers too small for a full mantissa keep it here;
// they print as 0 either way.
const (
	longDoubleBits   = 64
	maxLongDoubleExp = 16384  // greatest power of two above a finite number
	minLongDoubleExp = -16444 // least one above a number that is not zero
	maxLongDouble    = 5*1024 - 1
	longDoubleDigits = 17 // behind the point when printed
)

// parseLongDouble reads a number, decimal or behind 0x hexadecimal, or an infinity; NaN,
// blanks and numbers out of range are refused.
func parseLongDouble(s string) (*big.Float, bool) {
	if len(s) > maxLongDouble {
		return nil, false
	}
	body, negative := s, false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		body, negative = s[1:], s[0] == '-'
	}
	if ascii.EqualFold(body, "inf") || ascii.EqualFold(body, "infinity") {
		return new(big.Float).SetPrec(longDoubleBits).SetInf(negative), true
	}
	var f *big.Float
	hex, ok := hexadecimal(body)
	if ok {
		f, ok = hexLongDouble(hex)
	} else if digits, exp, fits := splitDecimal(body); fits {
		f, ok = scale(digits, exp)
	}
	if ok && negative {
		f.Neg(f)
	}
	return f, ok
}

// hexLongDouble reads what stands behind 0x.
func hexLongDouble(s string) (*big.Float, bool) {
	mantissa, power, raised := strings.Cut(s, "p")
	exp := 0
	if raised {
		var ok bool
		if exp, ok = parsePower(power); !ok {
			return nil, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789abcdef") != "" {
		return nil, false
	}
	n, _ := new(big.Int).SetString(digits, 16)
	f := new(big.Float).SetPrec(longDoubleBits).SetInt(n)
	if n.Sign() == 0 {
		return f, true
	}
	f.SetMantExp(f, exp-4*len(fraction))
	e := f.MantExp(nil)
	return f, e <= maxLongDoubleExp && e >= minLongDoubleExp
}

// maxDecimalExp is beyond what any long double reaches, whatever its digits.
const maxDecimalExp = 100_000

// splitDecimal cuts a decimal number without sign into digits and the power of ten of the
// last one.
func splitDecimal(s string) (digits string, exp int, ok bool) {
	mantissa, power, scientific := strings.Cut(ascii.Lower(s), "e")
	if scientific {
		if exp, ok = parsePower(power); !ok {
			return "", 0, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits = whole + fraction
	return digits, exp - len(fraction), digits != "" && allDigits(digits)
}

// parsePower reads a power of ten; a very large one is cut to maxDecimalExp.
func parsePower(s string) (exp int, ok bool) {
	sign := 1
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if s == "" || !allDigits(s) {
		return 0, false
	}
	for i := range len(s) {
		exp = min(exp*10+int(s[i]-'0'), maxDecimalExp)
	}
	return sign * exp, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// scale is digits times ten to the exp, rounded once.
func scale(digits string, exp int) (*big.Float, bool) {
	f := new(big.Float).SetPrec(longDoubleBits)
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return f, true
	}
	if size := len(digits) + exp; size > 5000 || size < -5000 {
		return nil, false
	}
	mantissa, _ := new(big.Int).SetString(digits, 10)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	if exp >= 0 {
		f.SetInt(mantissa.Mul(mantissa, power))
	} else {
		f.Quo(new(big.Float).SetInt(mantissa), new(big.Float).SetInt(power))
	}
	e := f.MantExp(nil)
	return f, e <= maxLongDoubleExp && e >= minLongDoubleExp
}

// addLongDouble is a + b, not ok if that is no finite number.
func addLongDouble(a, b *big.Float) (sum *big.Float, ok bool) {
	if a.IsInf() || b.IsInf() {
		return nil, false
	}
	sum = new(big.Float).SetPrec(longDoubleBits).Add(a, b)
	return sum, sum.MantExp(nil) <= maxLongDoubleExp
}

// formatLongDouble prints f without an exponent: 17 digits behind the point, then
// without trailing zeros.
func formatLongDouble(f *big.Float) string {
	s := strings.TrimRight(f.Text('f', longDoubleDigits), "0")
	s = strings.TrimSuffix(s, ".")
	if s == "-0" {
		return "0"
	}
	return s
}
