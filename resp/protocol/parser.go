package protocol

import (
	"bytes"
	"errors"
	"strconv"
	"unsafe"
)

// Limits bound what a client may ask for, before anything is allocated for it.
type Limits struct {
	// Words is the most words of a command, Bulk the most bytes of one of them, and Total
	// the most bytes of a whole command.
	Words, Bulk, Total int
	// Inline is the most bytes of a line.
	Inline int
}

// Unauthenticated are the limits before authentication, as in Redis: enough for AUTH and
// HELLO.
var Unauthenticated = Limits{Words: 10, Bulk: 16 << 10, Total: 64 << 10, Inline: 64 << 10}

// maxLine bounds a line with a count, in bytes.
const maxLine = 64 << 10

// Error is a protocol error. What follows can't be parsed, so the connection has to be closed;
// the client gets Error first.
type Error struct{ text string }

func (e *Error) Error() string { return "ERR Protocol error: " + e.text }

func protocolError(text string) error { return &Error{text} }

// ErrIncomplete: the rest of the command has not arrived.
var ErrIncomplete = errors.New("protocol: incomplete command")

// Parser cuts a buffer into commands. It remembers how far it got in a command that is
// not complete, so that one which arrives in pieces is parsed once.
type Parser struct {
	at    int // behind what was understood of the command
	left  int // words that the array still has; 0 before its head
	open  bool
	bulk  int // length of the word whose head was read; -1: the head comes next
	spans []span
	flat  [][]byte
	seen  int // bytes of an inline command in which there is no end of a line
}

type span struct{ from, to int }

// maxKeptWords bounds the memory for words that an idle parser keeps.
const maxKeptWords = 4 << 10

// Release forgets the words of commands read so far. Memory of unusually large commands
// is released.
func (p *Parser) Release() {
	if cap(p.flat) > maxKeptWords {
		p.flat = nil
	}
	if cap(p.spans) > maxKeptWords && !p.open {
		p.spans = nil
	}
	clear(p.flat)
	p.flat = p.flat[:0]
}

// Held returns the memory of the incomplete command's words so far, in bytes, beyond that of an idle parser.
func (p *Parser) Held() int {
	return max(0, cap(p.flat)-maxKeptWords)*int(unsafe.Sizeof([]byte{})) + max(0, cap(p.spans)-maxKeptWords)*int(unsafe.Sizeof(span{}))
}

// Next reads the command at the beginning of buf and returns its size in bytes. Its
// words alias buf. An empty line or array has no words. The error is ErrIncomplete, with
// which the next call has to give the same bytes and more, or an *Error.
func (p *Parser) Next(buf []byte, l *Limits) (argv [][]byte, size int, err error) {
	if !p.open {
		if len(buf) == 0 {
			return nil, 0, ErrIncomplete
		}
		if buf[0] != '*' {
			return p.inline(buf, l)
		}
		if done, size, err := p.head(buf, l); done || err != nil {
			return nil, size, err
		}
	}
	for p.left > 0 {
		if err := p.word(buf, l); err != nil {
			return nil, 0, err
		}
	}
	size = p.at
	p.open = false
	return p.words(buf), size, nil
}

// head reads the head of an array. It is done if nothing follows it.
func (p *Parser) head(buf []byte, l *Limits) (done bool, size int, err error) {
	n, next, err := number(buf, 1, "too big mbulk count string")
	switch {
	case err != nil:
		return false, 0, err
	case n > l.Words && l.Words <= Unauthenticated.Words:
		return false, 0, protocolError("unauthenticated multibulk length")
	case n > l.Words || next < 0:
		return false, 0, protocolError("invalid multibulk length")
	case n <= 0:
		return true, next, nil
	}
	p.open, p.left, p.bulk, p.at, p.spans = true, n, -1, next, p.spans[:0]
	return false, 0, nil
}

// word reads the next word of an array.
func (p *Parser) word(buf []byte, l *Limits) error {
	if p.bulk < 0 {
		if p.at >= len(buf) {
			return ErrIncomplete
		}
		if buf[p.at] != '$' {
			return protocolError("expected '$', got '" + printable(buf[p.at]) + "'")
		}
		n, next, err := number(buf, p.at+1, "too big bulk count string")
		switch {
		case err != nil:
			return err
		case n > l.Bulk && l.Bulk <= Unauthenticated.Bulk:
			return protocolError("unauthenticated bulk length")
		case n < 0 || n > l.Bulk || next < 0:
			return protocolError("invalid bulk length")
		case next+n > l.Total:
			return protocolError("command is longer than " + strconv.Itoa(l.Total) + " bytes")
		}
		p.bulk, p.at = n, next
	}
	end := p.at + p.bulk
	if len(buf) < end+2 {
		return ErrIncomplete
	}
	p.spans = append(p.spans, span{p.at, end})
	p.at, p.bulk = end+2, -1
	p.left--
	return nil
}

// words are the words of a complete command.
func (p *Parser) words(buf []byte) [][]byte {
	start := len(p.flat)
	for _, s := range p.spans {
		p.flat = append(p.flat, buf[s.from:s.to:s.to])
	}
	return p.flat[start:len(p.flat):len(p.flat)]
}

// Need returns a lower bound of the bytes that the buffer must hold for the command to be complete, or 0 if
// none is known yet.
func (p *Parser) Need() int {
	if !p.open || p.bulk < 0 {
		return 0
	}
	return p.at + p.bulk + 2
}

// number reads the decimal number of a line that begins at from, and returns where the next
// line does; that is negative if it is no number.
func number(buf []byte, from int, tooLong string) (n, next int, err error) {
	line := buf[min(from, len(buf)):]
	end := bytes.IndexByte(line, '\r')
	if end < 0 {
		if len(line) > maxLine {
			return 0, 0, protocolError(tooLong)
		}
		return 0, 0, ErrIncomplete
	}
	if end+1 >= len(line) {
		return 0, 0, ErrIncomplete
	}
	next = from + end + 2
	n, ok := decimal(line[:end])
	if !ok {
		return 0, -1, nil
	}
	return n, next, nil
}

// maxDigits is the most digits of a number that is looked at: any longer one is beyond
// every limit.
const maxDigits = 18

func decimal(b []byte) (n int, ok bool) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > maxDigits || (digits[0] == '0' && len(b) > 1) {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	if len(digits) < len(b) {
		n = -n
	}
	return n, true
}

// printable is a byte as a client may be shown it.
func printable(c byte) string {
	if c < ' ' || c > '~' {
		return " "
	}
	return string([]byte{c})
}
