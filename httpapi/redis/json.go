package redis

import (
	"encoding/binary"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Refusal is the text of a request that is refused before any command runs.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// The refusals of a JSON body. Clients show them as they are, and some users search for
// them, so the first six keep the reference service's words.
const (
	ErrEmptyBody    = Refusal("EOF")
	ErrNotArray     = Refusal("expected JSON array")
	ErrEmptyCommand = Refusal("ERR empty command")
	ErrNull         = Refusal("ERR null args are not supported")
	ErrObject       = Refusal(`ERR unsupported arg type: "{": json.Delim`)
	ErrArray        = Refusal(`ERR unsupported arg type: "[": json.Delim`)
	ErrTooManyWords = Refusal("ERR max arguments of a request exceeded. Limit: 1000000, Actual: more than 1000000. Setting: none, it is fixed")
)

// MaxWords is the most arguments of one request, all rows together.
const MaxWords = 1_000_000

// Command reads a command from a JSON array. Strings are decoded in place, so body is
// changed and must live as long as the arguments; numbers and truth values become their
// own text. Nesting is refused at the first bracket, so no depth can be exceeded.
func (w *Words) Command(body []byte) error {
	s := scanner{b: body}
	if err := s.array(w); err != nil {
		return err
	}
	return s.end()
}

// Batch reads the rows of a pipeline or transaction from an array of commands, at most maxRows of them. Rows returns
// them.
func (w *Words) Batch(body []byte, maxRows int) error {
	s := scanner{b: body}
	if err := s.open(); err != nil {
		return err
	}
	for more := !s.skip(']'); more; {
		if len(w.ends) == maxRows {
			limit := strconv.Itoa(maxRows)
			return Refusal("ERR max commands of a batch exceeded. Limit: " + limit + ", Actual: more than " + limit + ". Setting: max-rows")
		}
		if err := s.array(w); err != nil {
			return err
		}
		w.ends = append(w.ends, len(w.flat))
		var err error
		if more, err = s.more(); err != nil {
			return err
		}
	}
	if len(w.ends) == 0 {
		return ErrEmptyCommand
	}
	if err := s.end(); err != nil {
		return err
	}
	w.cut()
	return nil
}

// scanner reads JSON from b, which it changes where strings have escapes.
type scanner struct {
	b []byte
	i int
}

// array reads one command: an array of plain values, at least one.
func (s *scanner) array(w *Words) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.skip(']') {
		return ErrEmptyCommand
	}
	for {
		word, err := s.word()
		if err != nil {
			return err
		}
		if len(w.flat) == MaxWords {
			return ErrTooManyWords
		}
		w.flat = append(w.flat, word)
		if more, err := s.more(); err != nil || !more {
			return err
		}
	}
}

// open reads the bracket that begins an array.
func (s *scanner) open() error {
	switch c, ok := s.peek(); {
	case !ok && s.blank():
		return ErrEmptyBody
	case !ok:
		return s.malformed()
	case c == '[':
		s.i++
		return nil
	case beginsValue(c):
		return ErrNotArray
	}
	return s.malformed()
}

// blank reports whether nothing but white space was read so far.
func (s *scanner) blank() bool {
	for _, c := range s.b[:s.i] {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

func beginsValue(c byte) bool {
	switch c {
	case '{', '"', '-', 't', 'f', 'n':
		return true
	}
	return '0' <= c && c <= '9'
}

// more reads what follows an element: a comma, or the end of the array.
func (s *scanner) more() (bool, error) {
	if s.skip(',') {
		return true, nil
	}
	if s.skip(']') {
		return false, nil
	}
	return false, s.malformed()
}

// end makes sure that only white space is left.
func (s *scanner) end() error {
	if _, more := s.peek(); more {
		return s.malformed()
	}
	return nil
}

// word reads one plain value.
func (s *scanner) word() ([]byte, error) {
	c, _ := s.peek()
	switch {
	case c == '"':
		return s.text()
	case c == '-' || ('0' <= c && c <= '9'):
		return s.number()
	case c == '[':
		return nil, ErrArray
	case c == '{':
		return nil, ErrObject
	case s.literal("null"):
		return nil, ErrNull
	case s.literal("true"):
		return s.b[s.i-4 : s.i : s.i], nil
	case s.literal("false"):
		return s.b[s.i-5 : s.i : s.i], nil
	}
	return nil, s.malformed()
}

func (s *scanner) literal(word string) bool {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return false
	}
	s.i += len(word)
	return true
}

// number checks a number's grammar and returns its text as it was sent: going through a
// float would change large ones.
func (s *scanner) number() ([]byte, error) {
	start := s.i
	s.accept('-')
	if !s.accept('0') && !s.digits() {
		return nil, s.malformed()
	}
	if s.accept('.') && !s.digits() {
		return nil, s.malformed()
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('-') {
			s.accept('+')
		}
		if !s.digits() {
			return nil, s.malformed()
		}
	}
	return s.b[start:s.i:s.i], nil
}

// digits reads a run of digits and reports whether there was one.
func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}

// accept reads c if it is next.
func (s *scanner) accept(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// skip reads c if it is next after white space.
func (s *scanner) skip(c byte) bool {
	if next, ok := s.peek(); !ok || next != c {
		return false
	}
	s.i++
	return true
}

// peek returns the next byte that isn't white space.
func (s *scanner) peek() (byte, bool) {
	for s.i < len(s.b) {
		if c := s.b[s.i]; !isSpace(c) {
			return c, true
		}
		s.i++
	}
	return 0, false
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// malformed says where the body stops being JSON.
func (s *scanner) malformed() error {
	if s.i >= len(s.b) {
		return Refusal("ERR invalid JSON: unexpected end of the body")
	}
	return Refusal("ERR invalid JSON: unexpected character at byte " + strconv.Itoa(s.i+1))
}

// text reads a string. Without escapes it is the body's own bytes; the decoded form is
// never longer than the escaped one, so it is written over it.
func (s *scanner) text() ([]byte, error) {
	s.i++ // the quote
	start := s.i
	s.i += plainRun(s.b[s.i:])
	if s.i < len(s.b) && s.b[s.i] == '"' {
		s.i++
		return s.b[start : s.i-1 : s.i-1], nil
	}
	return s.escaped(start)
}

// escaped reads the rest of a string that has escapes, and was plain from start to here.
func (s *scanner) escaped(start int) ([]byte, error) {
	out := s.i
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[start:out:out], nil
		case c == '\\':
			decoded, ok := s.escape()
			if !ok {
				return nil, s.malformed()
			}
			out += utf8.EncodeRune(s.b[out:s.i], decoded)
		case c < ' ':
			return nil, s.malformed()
		default:
			n := plainRun(s.b[s.i:])
			out += copy(s.b[out:], s.b[s.i:s.i+n])
			s.i += n
		}
	}
	return nil, s.malformed()
}

// escape reads one escape sequence. A surrogate without its other half is U+FFFD.
func (s *scanner) escape() (rune, bool) {
	s.i++ // the backslash
	if s.i >= len(s.b) {
		return 0, false
	}
	c := s.b[s.i]
	if c != 'u' {
		r := shortEscapes[c]
		if r != 0 {
			s.i++
		}
		return rune(r), r != 0
	}
	r, ok := hex4(s.b[s.i+1:])
	if !ok {
		return 0, false
	}
	s.i += 5
	if !utf16.IsSurrogate(r) {
		return r, true
	}
	if len(s.b)-s.i >= 6 && s.b[s.i] == '\\' && s.b[s.i+1] == 'u' {
		low, ok := hex4(s.b[s.i+2:])
		if whole := utf16.DecodeRune(r, low); ok && whole != utf8.RuneError {
			s.i += 6
			return whole, true
		}
	}
	return utf8.RuneError, true
}

var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex4 returns the number of four hexadecimal digits at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		d := hexDigit(c)
		if d > 15 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// plainRun returns the number of bytes before the first quote, backslash or control
// character, which JSON strings hold as they are. Eight bytes are looked at together.
func plainRun(b []byte) int {
	i := 0
	for ; len(b)-i >= 8; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if special(x) != 0 {
			break
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// special returns a high bit for each of the eight bytes of x that is a quote, a backslash or a control character, 0 if
// there is none. After such a byte others may have the bit too, which the caller checks.
func special(x uint64) uint64 {
	quote, slash := x^('"'*everyByte), x^('\\'*everyByte)
	low := (x - ' '*everyByte) &^ x
	return (low | (quote-everyByte)&^quote | (slash-everyByte)&^slash) & highBits
}
