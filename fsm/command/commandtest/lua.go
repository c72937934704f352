package commandtest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Lua writes random programs that return something: numbers as texts and back, formats,
// patterns, tables, JSON, MessagePack.
type Lua struct{ *rand.Rand }

// Program is one of them. What it returns may be anything.
func (l Lua) Program() string {
	switch l.IntN(10) {
	case 0:
		return "return tostring(" + l.number() + l.pick(" + ", " - ", " * ", " / ", " % ", " ^ ") + l.number() + ")"
	case 1:
		return "return string.format(" + l.quoted(l.conversion()) + ", " + l.number() + ")"
	case 2:
		return "return tonumber(" + l.quoted(l.chars("0123456789.eExX+- abcdefinp", 8)) + ")"
	case 3:
		return "return string." + l.pick("find", "match", "gsub") + "(" + l.quoted(l.chars("abcx1 ().", 10)) + ", " + l.quoted(l.chars("abcx.%*+-?[]()^$dws1", 7)) + ", " + l.pick("1", "2", "-1", "'%0'") + ")"
	case 4:
		return "return cjson.encode(cjson.decode(" + l.quoted(l.chars("[]{},:\"\"ab1-.e0tfn ulrse", 12)) + "))"
	case 5:
		return "return cjson.encode(" + l.value(3) + ")"
	case 6:
		return "return cmsgpack.pack(" + l.value(3) + ")"
	case 7:
		return "return cjson.encode({cmsgpack.unpack(cmsgpack.pack(" + l.value(3) + "))})"
	case 8:
		return "return " + l.value(1) + l.pick(" .. ", " == ", " < ", " <= ", " + ", " and ", " or ") + l.value(1)
	}
	return l.tables()
}

// conversion is one of a format. Those of %g have no #: where rounding adds a digit, glibc drops the zeros that it asks for
// (%#.14G of 99999999999999.5).
func (l Lua) conversion() string {
	flags, width := l.chars("-+ #0", 2), l.pick("", "5", "12", "20")+l.pick("", ".0", ".3", ".14")
	verb := l.pick("d", "i", "u", "x", "X", "o", "e", "E", "f", "g", "G", "c", "s", "q")
	if verb == "g" || verb == "G" {
		flags = strings.ReplaceAll(flags, "#", "")
	}
	return "%" + flags + width + verb
}

// Shown is a program that returns what another one does as texts, or its error.
func (l Lua) Shown() string {
	return "local r = {pcall(function() " + l.Program() + " end)} for i=1,8 do r[i] = type(r[i]) == 'table' and 'table' or tostring(r[i]) end return r"
}

func (l Lua) pick(of ...string) string { return of[l.IntN(len(of))] }

// chars is up to n characters of a set.
func (l Lua) chars(set string, n int) string {
	b := make([]byte, l.IntN(n+1))
	for i := range b {
		b[i] = set[l.IntN(len(set))]
	}
	return string(b)
}

func (l Lua) quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
}

func (l Lua) number() string {
	switch l.IntN(6) {
	case 0:
		return strconv.Itoa(l.IntN(2000) - 1000)
	case 1:
		return strconv.FormatFloat(l.NormFloat64()*1e6, 'g', -1, 64)
	case 2:
		return strconv.FormatFloat(l.Float64(), 'e', l.IntN(17), 64) + strconv.Itoa(l.IntN(10))
	case 3:
		return l.pick("0", "-0", "1e15", "1e16", "2^53", "2^63", "-2^63", "1e100", "1e-100", "0.1", "1e14", "99999999999999.5", "5e-324", "1.7e308")
	case 4:
		return l.pick("'10'", "'0x1F'", "' 5 '", "'1e3'", "12345678901234567890")
	}
	return strconv.FormatUint(l.Uint64()>>l.IntN(64), 10)
}

// value is a literal nested up to depth.
func (l Lua) value(depth int) string {
	switch n := l.IntN(8); {
	case n < 2:
		return l.number()
	case n < 4:
		return l.quoted(l.chars("abc/\"\\\n\x01 é", 6))
	case n == 4:
		return l.pick("true", "false", "nil")
	case depth == 0:
		return "1"
	}
	var b strings.Builder
	b.WriteString("{")
	for range l.IntN(5) {
		switch l.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "[%d]=", l.IntN(12))
		case 1:
			b.WriteString(l.pick("a", "b", "key", "x1", "long_name_of_a_field") + "=")
		}
		b.WriteString(l.value(depth-1) + ",")
	}
	return b.String() + "}"
}

// tables changes a table at random and tells its order, its border and its sum.
func (l Lua) tables() string {
	var b strings.Builder
	b.WriteString("local t = " + l.value(1) + " if type(t) ~= 'table' then t = {} end ")
	for range l.IntN(30) {
		key := l.pick(strconv.Itoa(l.IntN(20)), strconv.Itoa(l.IntN(20)), "'k"+strconv.Itoa(l.IntN(20))+"'", strconv.FormatFloat(l.Float64()*4, 'f', 1, 64), l.pick("true", "false"))
		switch l.IntN(5) {
		case 0:
			b.WriteString("t[" + key + "] = nil ")
		case 1:
			b.WriteString("table.insert(t, " + strconv.Itoa(l.IntN(9)) + ") ")
		case 2:
			b.WriteString("table.remove(t) ")
		default:
			b.WriteString("t[" + key + "] = " + strconv.Itoa(l.IntN(100)) + " ")
		}
	}
	return b.String() + "local o = '' for k, v in pairs(t) do o = o .. tostring(k) .. '=' .. type(v) .. ' ' end return o, #t, table.maxn(t)"
}
