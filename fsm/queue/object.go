package queue

import (
	"strconv"
	"unicode/utf8"
)

// object writes one flat JSON object. The state machine writes callbacks itself, byte for byte the same on every node.
type object struct {
	b        []byte
	nonEmpty bool
}

func (o *object) open()  { o.b = append(o.b, '{') }
func (o *object) close() { o.b = append(o.b, '}') }

func (o *object) key(name string) {
	if o.nonEmpty {
		o.b = append(o.b, ',')
	}
	o.nonEmpty = true
	o.b = append(quote(o.b, name), ':')
}

func (o *object) number(name string, v int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) text(name, v string) {
	o.key(name)
	o.b = quote(o.b, v)
}

// optional writes a text unless it is empty.
func (o *object) optional(name, v string) {
	if v != "" {
		o.text(name, v)
	}
}

// header writes an object of arrays.
func (o *object) header(name string, header []Field) {
	o.key(name)
	o.fields(header)
}

// fields writes the values of each name, at the place where the name comes first.
func (o *object) fields(header []Field) {
	o.b = append(o.b, '{')
	last, next, later := make(map[string]int, len(header)), make([]int, len(header)), make([]bool, len(header))
	for i, f := range header {
		canonical := CanonicalName(f.Name)
		if before, had := last[canonical]; had {
			next[before], later[i] = i, true
		}
		last[canonical] = i
	}
	ok := false
	for i, f := range header {
		if later[i] {
			continue
		}
		canonical := CanonicalName(f.Name)
		if ok {
			o.b = append(o.b, ',')
		}
		ok = true
		o.b = append(quote(o.b, canonical), ':', '[')
		for k := i; ; k = next[k] {
			if o.b = quote(o.b, header[k].Value); next[k] == 0 {
				break
			}
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, ']')
	}
	o.b = append(o.b, '}')
}

// CanonicalName is a header's name in the form in which clients look it up: the first letter and those behind a hyphen
// are upper case, the others lower case.
func CanonicalName(name string) string {
	b, upper, same := []byte(name), true, true
	for i, c := range b {
		switch {
		case upper && 'a' <= c && c <= 'z':
			b[i] -= 'a' - 'A'
			same = false
		case !upper && 'A' <= c && c <= 'Z':
			b[i] += 'a' - 'A'
			same = false
		}
		upper = c == '-'
	}
	if same {
		return name
	}
	return string(b)
}

// shortEscapes are the control characters that have an escape of one letter: receivers sign what JSON.stringify makes.
var shortEscapes = [' ']byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

const hexDigits = "0123456789abcdef"

// quote appends a JSON string. Bytes that are no UTF-8 become the replacement character.
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' && shortEscapes[c] != 0:
			b = append(b, '\\', shortEscapes[c])
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}
