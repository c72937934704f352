package jsondoc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrDepth says that containers stand deeper in one another than MaxDepth.
var ErrDepth = errors.New("recursion limit exceeded")

// ErrUTF8 says that a text is not valid UTF-8.
var ErrUTF8 = errors.New("couldn't parse as UTF-8 string")

// SyntaxError says what is wrong with a JSON text, and where.
type SyntaxError struct {
	Problem      string
	Line, Column int // counted from 1, the column in bytes
}

// Error is the problem and its place, in serde_json's words.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at line %d column %d", e.Problem, e.Line, e.Column)
}

// Parse reads one JSON value. The result does not alias text. The error is a
// *SyntaxError, ErrDepth or ErrUTF8.
func Parse(text []byte) (Value, error) {
	if !utf8.Valid(text) {
		return nil, ErrUTF8
	}
	p := parser{text: text}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if p.blank(); p.at < len(text) {
		return nil, p.fail("trailing characters")
	}
	return v, nil
}

type parser struct {
	text []byte
	at   int
	keys map[string]string // those seen, so that equal ones share their bytes
	// What has been read of the containers that are open, innermost last, so that each
	// is made once it is known how large it is.
	values  []Value
	members []Member
}

// fail is an error at the byte that is next, or at the end.
func (p *parser) fail(problem string) error {
	seen := p.text[:min(p.at+1, len(p.text))]
	start := bytes.LastIndexByte(seen, '\n') + 1
	return &SyntaxError{problem, bytes.Count(seen, []byte("\n")) + 1, len(seen) - start}
}

// blank skips white space.
func (p *parser) blank() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// next skips white space and returns the byte behind it, 0 at the end.
func (p *parser) next() byte {
	p.blank()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

// value reads a value at a depth of that many containers.
func (p *parser) value(depth int) (Value, error) {
	switch c := p.next(); {
	case c == '{':
		return p.object(depth + 1)
	case c == '[':
		return p.array(depth + 1)
	case c == '"':
		s, err := p.string()
		return String(s), err
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	case c == 't':
		return Bool(true), p.word("true")
	case c == 'f':
		return Bool(false), p.word("false")
	case c == 'n':
		return Null{}, p.word("null")
	case p.at == len(p.text):
		return nil, p.fail("EOF while parsing a value")
	}
	return nil, p.fail("expected value")
}

func (p *parser) word(w string) error {
	for i := range len(w) {
		if p.at == len(p.text) {
			return p.fail("EOF while parsing a value")
		}
		if p.text[p.at] != w[i] {
			return p.fail("expected ident")
		}
		p.at++
	}
	return nil
}

func (p *parser) array(depth int) (Value, error) {
	if depth > MaxDepth {
		return nil, ErrDepth
	}
	p.at++
	start := len(p.values)
	if p.next() == ']' {
		p.at++
		return NewArray(), nil
	}
	for {
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		p.values = append(p.values, v)
		switch c := p.next(); {
		case c == ']':
			p.at++
			v := NewArray(slices.Clone(p.values[start:])...)
			p.values = p.values[:start]
			return v, nil
		case p.at == len(p.text):
			return nil, p.fail("EOF while parsing a list")
		case c != ',':
			return nil, p.fail("expected `,` or `]`")
		}
		p.at++
		if p.next() == ']' {
			return nil, p.fail("trailing comma")
		}
	}
}

// object reads an object; of members of one key the last value counts, at the place of
// the first.
func (p *parser) object(depth int) (Value, error) {
	if depth > MaxDepth {
		return nil, ErrDepth
	}
	p.at++
	start := len(p.members)
	if p.next() == '}' {
		p.at++
		return NewObject(), nil
	}
	for {
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, Member{key, v})
		switch c := p.next(); {
		case c == '}':
			p.at++
			v := ObjectOf(p.members[start:]...)
			p.members = p.members[:start]
			return v, nil
		case p.at == len(p.text):
			return nil, p.fail("EOF while parsing an object")
		case c != ',':
			return nil, p.fail("expected `,` or `}`")
		}
		p.at++
		if p.next() == '}' {
			return nil, p.fail("trailing comma")
		}
	}
}

// key reads a member's key and the colon behind it.
func (p *parser) key() (string, error) {
	if c := p.next(); c != '"' {
		if p.at == len(p.text) {
			return "", p.fail("EOF while parsing an object")
		}
		return "", p.fail("key must be a string")
	}
	s, err := p.string()
	if err != nil {
		return "", err
	}
	if c := p.next(); c != ':' {
		if p.at == len(p.text) {
			return "", p.fail("EOF while parsing an object")
		}
		return "", p.fail("expected `:`")
	}
	p.at++
	if known, ok := p.keys[s]; ok {
		return known, nil
	}
	if p.keys == nil {
		p.keys = map[string]string{}
	}
	p.keys[s] = s
	return s, nil
}

// number reads a number by JSON's grammar.
func (p *parser) number() (Value, error) {
	start := p.at
	if p.text[p.at] == '-' {
		p.at++
	}
	if p.digit() && p.text[p.at] == '0' {
		p.at++
		if p.digit() {
			return nil, p.fail("invalid number")
		}
	} else if err := p.digits(); err != nil {
		return nil, err
	}
	if p.at < len(p.text) && p.text[p.at] == '.' {
		p.at++
		if err := p.digits(); err != nil {
			return nil, err
		}
	}
	if p.at < len(p.text) && p.text[p.at]|0x20 == 'e' {
		p.at++
		if p.at < len(p.text) && (p.text[p.at] == '+' || p.text[p.at] == '-') {
			p.at++
		}
		if err := p.digits(); err != nil {
			return nil, err
		}
	}
	v, ok := parseNumber(string(p.text[start:p.at]))
	if !ok {
		p.at--
		return nil, p.fail("number out of range")
	}
	return v, nil
}

func (p *parser) digit() bool {
	return p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9'
}

// digits skips one digit or more.
func (p *parser) digits() error {
	if p.at == len(p.text) {
		return p.fail("EOF while parsing a value")
	}
	if !p.digit() {
		return p.fail("invalid number")
	}
	for p.digit() {
		p.at++
	}
	return nil
}

// string reads a string, whose opening quote is next.
func (p *parser) string() (string, error) {
	p.at++
	start := p.at
	var built []byte
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			part := p.text[start:p.at]
			p.at++
			if built == nil {
				return string(part), nil
			}
			return string(append(built, part...)), nil
		case c == '\\':
			built = append(built, p.text[start:p.at]...)
			var err error
			if built, err = p.escape(built); err != nil {
				return "", err
			}
			start = p.at + 1
		case c < ' ':
			return "", p.fail("control character (\\u0000-\\u001F) found while parsing a string")
		}
	}
	return "", p.fail("EOF while parsing a string")
}

// escape reads an escape whose backslash is next and leaves its last byte as next.
func (p *parser) escape(dst []byte) ([]byte, error) {
	p.at++
	if p.at == len(p.text) {
		return nil, p.fail("EOF while parsing a string")
	}
	switch c := p.text[p.at]; c {
	case '"', '\\', '/':
		return append(dst, c), nil
	case 'b':
		return append(dst, '\b'), nil
	case 'f':
		return append(dst, '\f'), nil
	case 'n':
		return append(dst, '\n'), nil
	case 'r':
		return append(dst, '\r'), nil
	case 't':
		return append(dst, '\t'), nil
	case 'u':
		return p.unicode(dst)
	}
	return nil, p.fail("invalid escape")
}

// unicode reads \uXXXX, whose u is next, and the second half of a pair.
func (p *parser) unicode(dst []byte) ([]byte, error) {
	r, err := p.hex()
	if err != nil {
		return nil, err
	}
	if utf16.IsSurrogate(r) {
		if r >= 0xDC00 {
			return nil, p.fail("lone leading surrogate in hex escape")
		}
		if p.at+2 >= len(p.text) || p.text[p.at+1] != '\\' || p.text[p.at+2] != 'u' {
			return nil, p.fail("unexpected end of hex escape")
		}
		p.at += 2
		low, err := p.hex()
		if err != nil {
			return nil, err
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return nil, p.fail("lone leading surrogate in hex escape")
		}
	}
	return utf8.AppendRune(dst, r), nil
}

// hex reads the four digits behind a u and leaves the last as next.
func (p *parser) hex() (r rune, err error) {
	for range 4 {
		p.at++
		if p.at == len(p.text) {
			return 0, p.fail("EOF while parsing a string")
		}
		c := p.text[p.at]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, p.fail("invalid escape")
		}
		r = r<<4 | rune(c)
	}
	return r, nil
}
