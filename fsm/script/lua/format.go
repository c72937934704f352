package lua

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
)

// directive is one % of a format.
type directive struct {
	minus, plus, space, alt, zero bool
	width                         int
	precision                     int // -1 if there is none
	verb                          byte
}

func stringFormat(vm *State, args []Value) {
	format, n := vm.CheckText(args, 1), 1
	var out []byte
	for i := 0; i < len(format); {
		vm.Step(1)
		if format[i] != '%' {
			end := strings.IndexByte(format[i:], '%')
			if end < 0 {
				end = len(format) - i
			}
			vm.Alloc(end)
			out = append(out, format[i:i+end]...)
			i += end
			continue
		}
		if i++; i < len(format) && format[i] == '%' {
			out = append(out, '%')
			i++
			continue
		}
		var d directive
		d, i = vm.directive(format, i)
		n++
		vm.Step(directiveCost + d.width/widthPerStep)
		before := len(out)
		out = vm.formatOne(out, &d, args, n)
		vm.Alloc(len(out) - before + 8)
	}
	vm.Return(vm.String(string(out)))
}

// directive reads one from behind its %, and returns where it ends.
func (st *State) directive(format string, i int) (directive, int) {
	start, d := i, directive{precision: -1}
	for ; i < len(format) && strings.IndexByte("-+ #0", format[i]) >= 0; i++ {
		switch format[i] {
		case '-':
			d.minus = true
		case '+':
			d.plus = true
		case ' ':
			d.space = true
		case '#':
			d.alt = true
		case '0':
			d.zero = true
		}
	}
	if i-start > len("-+ #0") {
		st.Errorf("invalid format (repeated flags)")
	}
	twoDigits := func() (n int) {
		for k := 0; k < 2 && i < len(format) && isDigit(format[i]); k++ {
			n = 10*n + int(format[i]-'0')
			i++
		}
		return n
	}
	d.width = twoDigits()
	if i < len(format) && format[i] == '.' {
		i++
		d.precision = twoDigits()
	}
	if i < len(format) && isDigit(format[i]) {
		st.Errorf("invalid format (width or precision too long)")
	}
	if i < len(format) {
		d.verb = format[i]
		i++
	}
	return d, i
}

func (st *State) formatOne(out []byte, d *directive, args []Value, n int) []byte {
	if n > len(args) {
		st.ArgError(n, "no value")
	}
	switch d.verb {
	case 'c':
		text := d.pad(nil, string([]byte{toChar(st.CheckNumber(args, n))}), "")
		text, _, _ = bytes.Cut(text, []byte{0})
		return append(out, text...)
	case 'd', 'i':
		return d.integer(out, ToInt64(st.CheckNumber(args, n)))
	case 'o', 'u', 'x', 'X':
		return d.unsigned(out, toUnsigned(st.CheckNumber(args, n)))
	case 'e', 'E', 'f', 'g', 'G':
		x := st.CheckNumber(args, n)
		st.Step(d.floatCost(x))
		return d.float(out, x)
	case 'q':
		s := st.CheckText(args, n)
		st.Fits(quotedRoom * len(s))
		st.Step(len(s) / parsePerStep)
		return quote(out, s)
	case 's':
		s := st.CheckText(args, n)
		st.Fits(len(s))
		st.Scan(len(s))
		return st.formatText(out, d, s)
	}
	verb := ""
	if d.verb != 0 {
		verb = string([]byte{d.verb})
	}
	st.Errorf("invalid option '%" + verb + "' to 'format'")
	return out
}

// toChar converts as C does for %c: through an integer of 32 bits.
func toChar(n float64) byte {
	if n > math.MinInt32-1 && n < math.MaxInt32+1 {
		return byte(int32(n))
	}
	return 0
}

// toUnsigned converts as C does for %x: through a signed integer where one holds it.
func toUnsigned(n float64) uint64 {
	if n >= 0x1p63 && n < 0x1p64 {
		return uint64(n)
	}
	if n >= 0x1p64 {
		return 0
	}
	return uint64(ToInt64(n))
}

// formatText is %s. A text without a precision that is long stands as it is; another
// one ends at its first zero byte, as C strings do.
func (st *State) formatText(out []byte, d *directive, s string) []byte {
	if d.precision < 0 && len(s) >= 100 {
		return append(out, s...)
	}
	s, _, _ = strings.Cut(s, "\x00")
	if d.precision >= 0 && len(s) > d.precision {
		s = s[:d.precision]
	}
	return d.pad(out, s, "")
}

// pad appends a text behind its sign in the width of the directive.
func (d *directive) pad(out []byte, s, sign string) []byte {
	fill := d.width - len(s) - len(sign)
	switch {
	case fill <= 0:
		return append(append(out, sign...), s...)
	case d.minus:
		return append(append(append(out, sign...), s...), strings.Repeat(" ", fill)...)
	case d.zero && d.verb != 's' && d.verb != 'c':
		return append(append(append(out, sign...), strings.Repeat("0", fill)...), s...)
	}
	return append(append(append(out, strings.Repeat(" ", fill)...), sign...), s...)
}

func (d *directive) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case d.plus:
		return "+"
	case d.space:
		return " "
	}
	return ""
}

// digits gives an integer its precision, which switches filling with zeros off.
func (d *directive) digits(s string) string {
	if d.precision < 0 {
		return s
	}
	d.zero = false
	if d.precision == 0 && s == "0" {
		return ""
	}
	return strings.Repeat("0", max(0, d.precision-len(s))) + s
}

func (d *directive) integer(out []byte, n int64) []byte {
	magnitude := uint64(n)
	if n < 0 {
		magnitude = -magnitude
	}
	return d.pad(out, d.digits(strconv.FormatUint(magnitude, 10)), d.sign(n < 0))
}

func (d *directive) unsigned(out []byte, n uint64) []byte {
	base := map[byte]int{'o': 8, 'u': 10, 'x': 16, 'X': 16}[d.verb]
	s, prefix := d.digits(strconv.FormatUint(n, base)), ""
	if d.alt && n != 0 {
		prefix = map[byte]string{'x': "0x", 'X': "0x"}[d.verb]
	}
	if d.alt && d.verb == 'o' && !strings.HasPrefix(s, "0") {
		s = "0" + s
	}
	s = prefix + s
	if d.zero && !d.minus && prefix != "" {
		s = prefix + strings.Repeat("0", max(0, d.width-len(s))) + s[len(prefix):]
	}
	if d.verb == 'X' {
		s = ascii.Upper(s)
	}
	return d.pad(out, s, "")
}

// floatCost is the price in steps of printing a number: more than exactDigits digits, or those before and behind a point,
// are computed one by one, for each bit of the exponent.
func (d *directive) floatCost(n float64) int {
	if d.verb|0x20 != 'f' && d.precision <= exactDigits-2 {
		return formatCost
	}
	_, e := math.Frexp(n)
	if e < 0 {
		e = -e
	}
	return formatCost + e*digitsPerBit + max(d.precision, 0)
}

func (d *directive) float(out []byte, n float64) []byte {
	negative := math.Signbit(n)
	if math.IsInf(n, 0) || n != n {
		s := "inf"
		if n != n {
			s = "nan"
		}
		d.zero = false
		if d.verb < 'a' {
			s = ascii.Upper(s)
		}
		return d.pad(out, s, d.sign(negative))
	}
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	n = math.Abs(n)
	var s string
	switch d.verb | 0x20 {
	case 'f':
		s = strconv.FormatFloat(n, 'f', precision, 64)
	case 'e':
		s = strconv.FormatFloat(n, 'e', precision, 64)
	default:
		s = d.general(n, max(precision, 1))
	}
	if d.alt && d.verb|0x20 != 'g' && precision == 0 {
		at := strings.IndexByte(s, 'e')
		if at < 0 {
			at = len(s)
		}
		s = s[:at] + "." + s[at:]
	}
	if d.verb < 'a' {
		s = ascii.Upper(s)
	}
	return d.pad(out, s, d.sign(negative))
}

// general is %g of a positive number.
func (d *directive) general(n float64, digits int) string {
	if !d.alt {
		return string(appendG(nil, n, digits))
	}
	text := strconv.FormatFloat(n, 'e', digits-1, 64)
	at := strings.IndexByte(text, 'e')
	exponent, _ := strconv.Atoi(text[at+1:]) // it is one: we have just printed it
	s, end := text[:at], text[at:]
	if exponent >= -4 && exponent < digits {
		s, end = strconv.FormatFloat(n, 'f', digits-1-exponent, 64), ""
	}
	if !strings.Contains(s, ".") {
		s += "."
	}
	return s + end
}

// quotedRoom is the most bytes that one quoted byte may need.
const quotedRoom = 4

// quote appends a string as a program could read it back.
func quote(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			out = append(out, '\\', c)
		case '\r':
			out = append(out, `\r`...)
		case 0:
			out = append(out, `\000`...)
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
