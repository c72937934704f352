package command

import (
	"math"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// parseDouble reads a double as Redis reads scores, which is strtod of C: decimal or, behind
// 0x, hexadecimal, with an exponent or not, or an infinity in any case. NaN, blanks and
// numbers out of range are refused; so are those that are too small to be told from 0.
func parseDouble(b []byte) (float64, bool) { return parseDoubleString(string(b)) }

func parseDoubleString(s string) (float64, bool) {
	f, err := readDouble(s)
	if err != nil || math.IsInf(f, 0) && strings.ContainsAny(s, "0123456789") {
		return 0, false
	}
	return f, f != 0 || isZero(s)
}

// isZero reports whether all digits of a number are 0, its exponent aside.
func isZero(s string) bool {
	if hex, found := hexadecimal(strings.TrimLeft(s, "+-")); found {
		mantissa, _, _ := strings.Cut(hex, "p")
		return !strings.ContainsAny(mantissa, "123456789abcdef")
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		s = s[:i]
	}
	return !strings.ContainsAny(s, "123456789")
}

// hexadecimal returns the digits after the 0x of a number without sign, in lower case.
func hexadecimal(body string) (digits string, found bool) {
	if len(body) < 2 || body[0] != '0' || body[1]|0x20 != 'x' {
		return "", false
	}
	return ascii.Lower(body[2:]), true
}

// readDouble reads a double; one too great is an infinity, one too small 0.
func readDouble(s string) (float64, error) {
	body := ascii.Lower(strings.TrimLeft(s, "+-"))
	if hex, found := hexadecimal(body); found && len(s)-len(body) <= 1 {
		f, err := readHexadecimal(hex)
		if s[0] == '-' {
			f = -f
		}
		return f, err
	}
	if len(s)-len(body) > 1 || body == "" || strings.Trim(body, "0123456789.e+-") != "" && body != "inf" && body != "infinity" {
		return 0, strconv.ErrSyntax
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && math.IsInf(f, 0) {
		return f, nil // out of range
	}
	return f, err
}

// readHexadecimal reads what stands behind 0x; the power of two may be left out.
func readHexadecimal(digits string) (float64, error) {
	mantissa, power, raised := strings.Cut(digits, "p")
	if strings.Trim(mantissa, "0123456789abcdef.") != "" || raised && strings.Trim(power, "0123456789+-") != "" {
		return 0, strconv.ErrSyntax // Go would take underscores
	}
	if !raised {
		digits += "p0"
	}
	f, err := strconv.ParseFloat("0x"+digits, 64)
	if err != nil && math.IsInf(f, 0) {
		return f, nil // out of range
	}
	return f, err
}

// Double is the next word as a double.
func (a *Args) Double() float64 { return a.DoubleOr(ErrNotFloat) }

// DoubleOr is Double with an error of the caller's.
func (a *Args) DoubleOr(e reply.Value) float64 {
	f, ok := parseDouble(a.Bytes())
	if !ok {
		a.Fail(e)
	}
	return f
}
