package script

import (
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/script/lua"
)

// jsonToken is a kind of token, by the name that errors give it.
type jsonToken string

const (
	objectBegin jsonToken = "T_OBJ_BEGIN"
	objectEnd   jsonToken = "T_OBJ_END"
	arrayBegin  jsonToken = "T_ARR_BEGIN"
	arrayEnd    jsonToken = "T_ARR_END"
	jsonString  jsonToken = "T_STRING"
	jsonNumber  jsonToken = "T_NUMBER"
	jsonBoolean jsonToken = "T_BOOLEAN"
	jsonNull    jsonToken = "T_NULL"
	jsonColon   jsonToken = "T_COLON"
	jsonComma   jsonToken = "T_COMMA"
	jsonEnd     jsonToken = "T_END"
)

// decoder reads one JSON text.
type decoder struct {
	vm     *lua.State
	config *jsonConfig
	text   string
	at     int

	token jsonToken // or the reason why there is none
	start int       // of the token, or of what is wrong
	value lua.Value
	depth int
}

func decodeJSON(vm *lua.State, c *jsonConfig, text string) lua.Value {
	if len(text) >= 2 && (text[0] == 0 || text[1] == 0) {
		vm.Errorf("JSON parser does not support UTF-16 or UTF-32")
	}
	vm.Step(len(text) / 8)
	d := &decoder{vm: vm, config: c, text: text}
	d.next()
	v := d.parse()
	if d.next(); d.token != jsonEnd {
		d.fail("the end")
	}
	return v
}

func (d *decoder) fail(expected string) {
	d.vm.Errorf("Expected " + expected + " but found " + string(d.token) + " at character " + strconv.Itoa(d.start+1))
}

// char is the byte at an offset, 0 behind the end.
func (d *decoder) char(offset int) byte {
	if d.at+offset < len(d.text) {
		return d.text[d.at+offset]
	}
	return 0
}

// punctuation are the tokens of one character.
var punctuation = [256]jsonToken{'{': objectBegin, '}': objectEnd, '[': arrayBegin, ']': arrayEnd, ':': jsonColon, ',': jsonComma}

// tokenCost is the price in steps of reading a token.
const tokenCost = 3

func (d *decoder) next() {
	d.vm.Step(tokenCost)
	for d.at < len(d.text) && isBlank(d.text[d.at]) {
		d.at++
	}
	d.start = d.at
	c := d.char(0)
	switch c {
	case 0:
		d.token = jsonEnd
		return
	case '"':
		d.string()
		return
	}
	if t := punctuation[c]; t != "" {
		d.token = t
		d.at++
		return
	}
	rest := d.text[d.at:]
	switch {
	case c == '-' || '0' <= c && c <= '9':
		if !d.config.decodeInvalid && invalidNumber(rest) {
			d.token = "invalid number"
			return
		}
		d.number(rest)
	case d.word("true", jsonBoolean, lua.Bool(true)), d.word("false", jsonBoolean, lua.Bool(false)), d.word("null", jsonNull, lua.Null):
	case strings.IndexByte("+fiInNt", c) >= 0 && d.config.decodeInvalid && invalidNumber(rest):
		d.number(rest)
	default:
		d.token = "invalid token"
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func (d *decoder) word(word string, t jsonToken, v lua.Value) bool {
	if !strings.HasPrefix(d.text[d.at:], word) {
		return false
	}
	d.token, d.value = t, v
	d.at += len(word)
	return true
}

// invalidNumber reports whether a number is one that JSON doesn't know, though C does.
func invalidNumber(s string) bool {
	if strings.HasPrefix(s, "+") {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if s == "" {
		return false
	}
	if s[0] == '0' {
		return len(s) > 1 && (s[1]|0x20 == 'x' || '0' <= s[1] && s[1] <= '9')
	}
	if s[0] <= '9' {
		return false
	}
	return len(s) >= 3 && (ascii.EqualFold(s[:3], "inf") || ascii.EqualFold(s[:3], "nan"))
}

// digitsPerStep is the number of characters of a number that are read for one step.
const digitsPerStep = 2

// number reads the longest number at the beginning of rest.
func (d *decoder) number(rest string) {
	n := numberLength(rest)
	d.vm.Step(n / digitsPerStep)
	v, ok := d.vm.ParseNumber(rest[:n])
	if !ok {
		d.token = "invalid number"
		return
	}
	d.token, d.value = jsonNumber, lua.Number(v)
	d.at += n
}

// numberLength returns the number of bytes that C's strtod would read.
func numberLength(s string) int {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	for _, word := range []string{"infinity", "inf", "nan"} {
		if len(s)-i >= len(word) && ascii.EqualFold(s[i:i+len(word)], word) {
			return i + len(word)
		}
	}
	digits, exponent := "0123456789", byte('e')
	if len(s) > i+2 && s[i] == '0' && s[i+1]|0x20 == 'x' && strings.IndexByte("0123456789abcdefABCDEF", s[i+2]) >= 0 {
		i += 2
		digits, exponent = "0123456789abcdefABCDEF", 'p'
	}
	seen := 0
	for dot := false; i < len(s); i++ {
		if s[i] == '.' && !dot {
			dot = true
		} else if strings.IndexByte(digits, s[i]) >= 0 {
			seen++
		} else {
			break
		}
	}
	if seen == 0 || i >= len(s) || s[i]|0x20 != exponent {
		return i
	}
	j := i + 1
	if j < len(s) && (s[j] == '+' || s[j] == '-') {
		j++
	}
	first := j
	for j < len(s) && '0' <= s[j] && s[j] <= '9' {
		j++
	}
	if j == first {
		return i
	}
	return j
}

func (d *decoder) string() {
	begin := d.at
	d.at++
	var b []byte
	for {
		d.start = d.at
		c := d.char(0)
		switch {
		case c == '"':
			d.at++
			d.start = begin
			d.token, d.value = jsonString, d.vm.Copy(unsafe.String(unsafe.SliceData(b), len(b)))
			return
		case c == 0:
			d.token = "unexpected end of string"
			return
		case c != '\\':
			end := d.at + 1
			for end < len(d.text) && d.text[end] != '"' && d.text[end] != '\\' && d.text[end] != 0 {
				end++
			}
			b = append(b, d.text[d.at:end]...)
			d.at = end
			continue
		}
		e := d.char(1)
		if e == 'u' {
			r, n := d.codePoint()
			if n == 0 {
				d.token = "invalid unicode escape code"
				return
			}
			b = utf8.AppendRune(b, r) // runes: an escape of JSON names one
			d.at += n
			continue
		}
		i := strings.IndexByte(`"\/bfnrt`, e)
		if i < 0 {
			d.token = "invalid escape code"
			return
		}
		b = append(b, "\"\\/\b\f\n\r\t"[i])
		d.at += 2
	}
}

// codePoint is the character that an escape \u stands for, which may need two of them,
// and how many bytes that took; 0 if it is none.
func (d *decoder) codePoint() (rune, int) {
	high, ok := d.hex4(2)
	switch {
	case !ok || high&0xfc00 == 0xdc00:
		return 0, 0
	case high&0xf800 != 0xd800:
		return high, 6
	}
	low, ok := d.hex4(8)
	if !ok || d.char(6) != '\\' || d.char(7) != 'u' || low&0xfc00 != 0xdc00 {
		return 0, 0
	}
	return (high&0x3ff)<<10 + low&0x3ff + 0x10000, 12
}

func (d *decoder) hex4(offset int) (rune, bool) {
	if d.at+offset+4 > len(d.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(d.text[d.at+offset:d.at+offset+4], 16, 16)
	return rune(n), err == nil
}

// parse reads the value that begins with the current token.
func (d *decoder) parse() lua.Value {
	switch d.token {
	case jsonString, jsonNumber, jsonBoolean, jsonNull:
		return d.value
	case objectBegin:
		return d.object()
	case arrayBegin:
		return d.array()
	}
	d.fail("value")
	return lua.Nil
}

func (d *decoder) descend() {
	if d.depth++; d.depth > d.config.decodeDepth || d.depth > deepest {
		d.vm.Errorf("Found too many nested data structures (" + strconv.Itoa(d.depth) + ") at character " + strconv.Itoa(d.at))
	}
}

func (d *decoder) object() lua.Value {
	d.descend()
	t := d.vm.NewTable(0, 0)
	for d.next(); d.token != objectEnd; {
		if d.token != jsonString {
			d.fail("object key string")
		}
		key := d.value
		if d.next(); d.token != jsonColon {
			d.fail("colon")
		}
		d.next()
		t.Set(key, d.parse())
		if d.next(); d.token == objectEnd {
			break
		}
		if d.token != jsonComma {
			d.fail("comma or object end")
		}
		if d.next(); d.token == objectEnd {
			d.fail("object key string")
		}
	}
	d.depth--
	return lua.TableValue(t)
}

func (d *decoder) array() lua.Value {
	d.descend()
	t := d.vm.NewTable(0, 0)
	d.next()
	for i := 1; d.token != arrayEnd; i++ {
		t.SetIndex(i, d.parse())
		if d.next(); d.token == arrayEnd {
			break
		}
		if d.token != jsonComma {
			d.fail("comma or array end")
		}
		if d.next(); d.token == arrayEnd {
			d.fail("value")
		}
	}
	d.depth--
	return lua.TableValue(t)
}
