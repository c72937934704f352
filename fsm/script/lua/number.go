package lua

import (
	"math"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
)

// FormatNumber prints a number as Lua does: "%.14g" of C.
func FormatNumber(n float64) string { return string(AppendNumber(nil, n, 14)) }

// AppendNumber prints a number as C's "%.*g" does.
func AppendNumber(b []byte, n float64, digits int) []byte {
	switch {
	case n != n:
		if math.Signbit(n) {
			return append(b, "-nan"...)
		}
		return append(b, "nan"...)
	case math.IsInf(n, 1):
		return append(b, "inf"...)
	case math.IsInf(n, -1):
		return append(b, "-inf"...)
	}
	if i := int64(n); i > -1e14 && i < 1e14 && float64(i) == n && digits >= 14 && (i != 0 || !math.Signbit(n)) {
		return strconv.AppendInt(b, i, 10)
	}
	return appendG(b, n, digits)
}

// appendG is "%.*g": the exponent decides the form, and zeros at the end go.
func appendG(b []byte, n float64, digits int) []byte {
	digits = max(digits, 1)
	text := strconv.AppendFloat(make([]byte, 0, 32), n, 'e', digits-1, 64)
	at := strings.IndexByte(string(text), 'e')
	exponent, _ := strconv.Atoi(string(text[at+1:])) // it is one: we have just printed it
	if exponent < -4 || exponent >= digits {
		b = append(b, trimZeros(string(text[:at]))...)
		return append(b, text[at:]...)
	}
	return append(b, trimZeros(strconv.FormatFloat(n, 'f', digits-1-exponent, 64))...)
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// ParseNumber reads a number as Lua converts strings: decimal or hexadecimal, blanks
// around it, and the other forms that C's strtod knows.
func ParseNumber(s string) (float64, bool) {
	s, _, _ = strings.Cut(s, "\x00") // where C stops reading
	s = strings.Trim(s, " \t\n\v\f\r")
	if s == "" || strings.IndexByte(s, '_') >= 0 {
		return 0, false
	}
	body, negative := s, false
	if s[0] == '-' || s[0] == '+' {
		body, negative = s[1:], s[0] == '-'
	}
	if len(body) > 1 && body[0] == '0' && body[1]|0x20 == 'x' {
		return parseHex(body, negative)
	}
	if body == "" || body[0] == '-' || body[0] == '+' {
		return 0, false
	}
	if body[0]|0x20 == 'i' || body[0]|0x20 == 'n' {
		n, special := specials[ascii.Lower(body[:min(len(body), len("infinity")+1)])]
		if negative {
			n = math.Copysign(n, -1)
		}
		return n, special
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil || math.IsInf(n, 0)
}

var specials = map[string]float64{"inf": math.Inf(1), "infinity": math.Inf(1), "nan": math.Float64frombits(0x7ff8000000000000)}

func parseHex(body string, negative bool) (float64, bool) {
	if !strings.ContainsAny(body, "pP") {
		body += "p0"
	}
	n, err := strconv.ParseFloat(body, 64)
	if negative {
		n = -n
	}
	return n, err == nil || math.IsInf(n, 0)
}

// ToInt64 converts as C does on the processors Redis runs on: what doesn't fit is the
// smallest integer.
func ToInt64(n float64) int64 {
	if n >= -0x1p63 && n < 0x1p63 {
		return int64(n)
	}
	return math.MinInt64
}

// toInt is ToInt64 cut to the range of int, for positions and counts.
func toInt(n float64) int { return int(ToInt64(n)) }
