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
func (g Lua) Program() string {
	switch g.IntN(10) {
	case 0:
		return "return tostring(" + g.number() + g.pick(" + ", " - ", " * ", " / ", " % ", " ^ ") + g.number() + ")"
	case 1:
		return "return string.format(" + g.quoted(g.conversion()) + ", " + g.number() + ")"
	case 2:
		return "return tonumber(" + g.quoted(g.chars("0123456789.eExX+- abcdefinp", 8)) + ")"
	case 3:
		return "return string." + g.pick("find", "match", "gsub") + "(" + g.quoted(g.chars("abcx1 ().", 10)) + ", " + g.quoted(g.chars("abcx.%*+-?[]()^$dws1", 7)) + ", " + g.pick("1", "2", "-1", "'%0'") + ")"
	case 4:
		return "return cjson.encode(cjson.decode(" + g.quoted(g.chars("[]{},:\"\"ab1-.e0tfn ulrse", 12)) + "))"
	case 5:
		return "return cjson.encode(" + g.value(3) + ")"
	case 6:
		return "return cmsgpack.pack(" + g.value(3) + ")"
	case 7:
		return "return cjson.encode({cmsgpack.unpack(cmsgpack.pack(" + g.value(3) + "))})"
	case 8:
		return "return " + g.value(1) + g.pick(" .. ", " == ", " < ", " <= ", " + ", " and ", " or ") + g.value(1)
	}
	return g.tables()
}

// conversion is one of a format. Those of %g have no #: where rounding adds a digit, glibc drops the zeros that it asks for
// (%#.14G of 99999999999999.5).
func (g Lua) conversion() string {
	flags, width := g.chars("-+ #0", 2), g.pick("", "5", "12", "20")+g.pick("", ".0", ".3", ".14")
	verb := g.pick("d", "i", "u", "x", "X", "o", "e", "E", "f", "g", "G", "c", "s", "q")
	if verb == "g" || verb == "G" {
		flags = strings.ReplaceAll(flags, "#", "")
	}
	return "%" + flags + width + verb
}

// Shown is a program that returns what another one does as texts, or its error.
func (g Lua) Shown() string {
	return "local r = {pcall(function() " + g.Program() + " end)} for i=1,8 do r[i] = type(r[i]) == 'table' and 'table' or tostring(r[i]) end return r"
}

func (g Lua) pick(of ...string) string { return of[g.IntN(len(of))] }

// chars is up to n characters of a set.
func (g Lua) chars(set string, n int) string {
	b := make([]byte, g.IntN(n+1))
	for i := range b {
		b[i] = set[g.IntN(len(set))]
	}
	return string(b)
}

func (g Lua) quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`).Replace(s) + "'"
}

func (g Lua) number() string {
	switch g.IntN(6) {
	case 0:
		return strconv.Itoa(g.IntN(2000) - 1000)
	case 1:
		return strconv.FormatFloat(g.NormFloat64()*1e6, 'g', -1, 64)
	case 2:
		return strconv.FormatFloat(g.Float64(), 'e', g.IntN(17), 64) + strconv.Itoa(g.IntN(10))
	case 3:
		return g.pick("0", "-0", "1e15", "1e16", "2^53", "2^63", "-2^63", "1e100", "1e-100", "0.1", "1e14", "99999999999999.5", "5e-324", "1.7e308")
	case 4:
		return g.pick("'10'", "'0x1F'", "' 5 '", "'1e3'", "12345678901234567890")
	}
	return strconv.FormatUint(g.Uint64()>>g.IntN(64), 10)
}

// value is a literal nested up to depth.
func (g Lua) value(depth int) string {
	switch n := g.IntN(8); {
	case n < 2:
		return g.number()
	case n < 4:
		return g.quoted(g.chars("abc/\"\\\n\x01 é", 6))
	case n == 4:
		return g.pick("true", "false", "nil")
	case depth == 0:
		return "1"
	}
	var b strings.Builder
	b.WriteString("{")
	for range g.IntN(5) {
		switch g.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "[%d]=", g.IntN(12))
		case 1:
			b.WriteString(g.pick("a", "b", "key", "x1", "long_name_of_a_field") + "=")
		}
		b.WriteString(g.value(depth-1) + ",")
	}
	return b.String() + "}"
}

// tables changes a table at random and tells its order, its border and its sum.
func (g Lua) tables() string {
	var b strings.Builder
	b.WriteString("local t = " + g.value(1) + " if type(t) ~= 'table' then t = {} end ")
	for range g.IntN(30) {
		key := g.pick(strconv.Itoa(g.IntN(20)), strconv.Itoa(g.IntN(20)), "'k"+strconv.Itoa(g.IntN(20))+"'", strconv.FormatFloat(g.Float64()*4, 'f', 1, 64), g.pick("true", "false"))
		switch g.IntN(5) {
		case 0:
			b.WriteString("t[" + key + "] = nil ")
		case 1:
			b.WriteString("table.insert(t, " + strconv.Itoa(g.IntN(9)) + ") ")
		case 2:
			b.WriteString("table.remove(t) ")
		default:
			b.WriteString("t[" + key + "] = " + strconv.Itoa(g.IntN(100)) + " ")
		}
	}
	return b.String() + "local o = '' for k, v in pairs(t) do o = o .. tostring(k) .. '=' .. type(v) .. ' ' end return o, #t, table.maxn(t)"
}
