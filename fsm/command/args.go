package command

import (
	"strconv"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// Args reads the arguments behind a command's name, in order. Its error is sticky:
// the first one wins and Done returns it.
type Args struct {
	argv [][]byte
	at   int
	err  reply.Value
	bad  bool
	// program is the size of the regular expressions in the paths so far, steps the work of reading them.
	program int
	steps   int64
	// judging: the handler runs only to judge the words; see Command.misread.
	judging bool
}

// NewArgs reads argv, whose first word is the command's name.
func NewArgs(argv [][]byte) *Args { return &Args{argv: argv, at: 1} }

// Left is the number of words not read yet.
func (a *Args) Left() int { return len(a.argv) - a.at }

// Fail records an error reply unless one stands already.
func (a *Args) Fail(v reply.Value) {
	if !a.bad {
		a.bad, a.err = true, v
	}
}

// Bytes is the next word; it aliases the request and must be copied to be stored.
// Without one the syntax error is recorded.
func (a *Args) Bytes() []byte {
	if a.at >= len(a.argv) {
		a.Fail(ErrSyntax)
		return nil
	}
	a.at++
	return a.argv[a.at-1]
}

// String is a copy of the next word.
func (a *Args) String() string { return string(a.Bytes()) }

// errPattern refuses a pattern that would take more than linear time.
var errPattern = reply.Error("ERR pattern has a part of more than " + strconv.Itoa(glob.MaxSearched) + " elements, with classes or question marks, between two stars")

// Pattern is a copy of the next word, which names or keys will be matched with. One that
// would take long is refused.
func (a *Args) Pattern() string {
	pattern := a.String()
	if glob.Costly(pattern) {
		a.Fail(errPattern)
	}
	return pattern
}

// Int is the next word as a strict 64-bit integer.
func (a *Args) Int() int64 { return a.IntOr(ErrNotInteger) }

// IntOr is Int with an error of the caller's.
func (a *Args) IntOr(e reply.Value) int64 {
	n, ok := ParseInt(a.Bytes())
	if !ok {
		a.Fail(e)
	}
	return n
}

// Word skips the next word if it equals w, which is in upper case, in any case.
func (a *Args) Word(w string) bool {
	if a.at < len(a.argv) && EqualFold(a.argv[a.at], w) {
		a.at++
		return true
	}
	return false
}

// Take are the next n words; fewer left is a syntax error.
func (a *Args) Take(n int) [][]byte {
	if n > a.Left() {
		a.Fail(ErrSyntax)
		return nil
	}
	a.at += n
	return a.argv[a.at-n : a.at]
}

// Rest are all words left.
func (a *Args) Rest() [][]byte {
	r := a.argv[min(a.at, len(a.argv)):]
	a.at = len(a.argv)
	return r
}

// Done is the first error; words left unread are a syntax error. It is also false, without an
// error, if the words are only judged: the handler returns then and has touched nothing.
func (a *Args) Done() (reply.Value, bool) {
	if !a.bad && a.at < len(a.argv) {
		a.Fail(ErrSyntax)
	}
	return a.err, !a.bad && !a.judging
}

// ParseInt reads an integer as Redis does: 64 bits, no blanks, no plus sign, no
// leading zeros, no negative zero.
func ParseInt(b []byte) (int64, bool) {
	return parseIntString(unsafe.String(unsafe.SliceData(b), len(b)))
}

func parseIntString(s string) (int64, bool) {
	if len(s) == 0 || len(s) > maxIntText {
		return 0, false
	}
	digits := s
	if s[0] == '-' {
		digits = s[1:]
	}
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' || (digits[0] == '0' && len(s) > 1) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// maxIntText is the length of the smallest 64-bit integer.
const maxIntText = 20

// EqualFold reports whether b is word, which is in upper case ASCII, in any case.
func EqualFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		c := b[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
