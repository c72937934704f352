package command

import (
	"math"
	"strconv"
	"strings"

	"trireme/fsm/reply"
)

// parseDouble reads a double as Redis reads scores: decimal, with an exponent or
// not, or an infinity in any case. NaN, blanks, hexadecimal and numbers out of range
// are refused; so are those that are too small to be told from 0.
func parseDouble(b []byte) (float64, bool) { return parseDoubleString(string(b)) }

func parseDoubleString(s string) (float64, bool) {
	f, err := readDouble(s)
	if err != nil || math.IsInf(f, 0) && s[len(s)-1]|0x20 < 'a' {
		return 0, false
	}
	return f, f != 0 || !strings.ContainsAny(mantissa(s), "123456789")
}

// mantissa is what stands before the exponent.
func mantissa(s string) string {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		return s[:i]
	}
	return s
}

// readDouble reads a double; one too great is an infinity, one too small 0.
func readDouble(s string) (float64, error) {
	body := strings.ToLower(strings.TrimLeft(s, "+-"))
	if len(s)-len(body) > 1 || body == "" || strings.Trim(body, "0123456789.e+-") != "" && body != "inf" && body != "infinity" {
		return 0, strconv.ErrSyntax
	}
	f, err := strconv.ParseFloat(s, 64)
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
