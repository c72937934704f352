package lua

import (
	"strconv"
	"strings"
)

// token is the kind of a word of the program. Single characters stand for themselves.
type token int

const (
	tokAnd token = iota + 257
	tokBreak
	tokDo
	tokElse
	tokElseif
	tokEnd
	tokFalse
	tokFor
	tokFunction
	tokIf
	tokIn
	tokLocal
	tokNil
	tokNot
	tokOr
	tokRepeat
	tokReturn
	tokThen
	tokTrue
	tokUntil
	tokWhile
	tokConcat
	tokDots
	tokEqual
	tokGreaterEqual
	tokLessEqual
	tokNotEqual
	tokNumber
	tokName
	tokString
	tokEOF
)

var tokenNames = [...]string{
	"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil", "not", "or",
	"repeat", "return", "then", "true", "until", "while", "..", "...", "==", ">=", "<=", "~=", "<number>", "<name>", "<string>", "<eof>",
}

var reserved = map[string]token{}

func init() {
	for t := tokAnd; t <= tokWhile; t++ {
		reserved[tokenNames[t-tokAnd]] = t
	}
}

// String is the token as errors name it.
func (t token) String() string {
	if t >= tokAnd {
		return tokenNames[t-tokAnd]
	}
	if t < ' ' || t == 127 {
		return "char(" + strconv.Itoa(int(t)) + ")"
	}
	return string([]byte{byte(t)})
}

// SyntaxError is why a program can't be compiled, in Lua's words with its place.
type SyntaxError struct {
	Text string
	// Steps is what it cost to find out.
	Steps int
}

// Error is the text.
func (e *SyntaxError) Error() string { return e.Text }

// lexer cuts a program into tokens, one ahead.
type lexer struct {
	src      string
	at       int
	chunk    string // the name that stands before lines
	line     int    // of the current token's end
	lastLine int    // of the token before
	start    int    // of the current token's text

	tok    token
	text   string // of a name or string
	number float64
	ahead  *lexer // the token behind the current one, if it was looked at
	work   *work
}

// work is how many tokens of a program were read, and the budget that pays for each, if it isn't paid for as a whole.
type work struct {
	tokens int
	budget *Budget
}

// steps is the price of compiling so many tokens of a text.
func (w *work) steps(src string) int { return len(src)/sourcePerStep + tokenCost*w.tokens }

// fail reports an error near the current token.
func (x *lexer) fail(text string, near string) {
	if near, _, _ = strings.Cut(near, "\x00"); near != "" { // as C prints it
		text += " near '" + near + "'"
	}
	panic(&SyntaxError{Text: x.chunk + ":" + strconv.Itoa(x.line) + ": " + text})
}

// near is the current token as an error shows it.
func (x *lexer) near() string {
	switch x.tok {
	case 0: // a zero byte, which Lua takes for no token in an error
		return ""
	case tokName, tokNumber:
		return x.src[x.start:x.at]
	case tokString:
		open, end := x.src[x.start:x.start+1], x.src[x.start:x.start+1]
		if open == "[" {
			open = x.src[x.start : x.start+2+strings.IndexByte(x.src[x.start+1:], '[')]
			end = strings.ReplaceAll(open, "[", "]")
		}
		return open + x.text + end
	}
	return x.tok.String()
}

func (x *lexer) failHere(text string) { x.fail(text, x.near()) }

// next moves on to the next token.
func (x *lexer) next() {
	x.lastLine = x.line
	if a := x.ahead; a != nil {
		x.at, x.line, x.start, x.tok, x.text, x.number, x.ahead = a.at, a.line, a.start, a.tok, a.text, a.number, nil
		return
	}
	x.tok = x.scan()
}

// peek is the token behind the current one.
func (x *lexer) peek() token {
	if x.ahead == nil {
		a := *x
		a.tok = a.scan()
		x.ahead = &a
	}
	return x.ahead.tok
}

// char is the byte at an offset from here, 0 behind the end.
func (x *lexer) char(offset int) byte {
	if x.at+offset < len(x.src) {
		return x.src[x.at+offset]
	}
	return 0
}

func (x *lexer) scan() token {
	x.work.tokens++
	if b := x.work.budget; b != nil {
		b.Step(tokenCost)
		b.Hold(sizeToken)
	}
	for x.at < len(x.src) {
		c := x.src[x.at]
		x.start = x.at
		switch {
		case c == '\n' || c == '\r':
			x.newLine()
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			x.at++
		case c == '-' && x.char(1) == '-':
			x.comment()
		case c == '"' || c == '\'':
			x.quoted(c)
			return tokString
		case c == '[' && (x.char(1) == '[' || x.char(1) == '='):
			if level := x.longBracket(); level >= 0 {
				x.text = x.long(level, "string")
				return tokString
			}
			if x.char(1) == '=' {
				x.at = x.bracketEnd()
				x.fail("invalid long string delimiter", x.src[x.start:x.at])
			}
			x.at++
			return '['
		case isDigit(c) || c == '.' && isDigit(x.char(1)):
			return x.numeral()
		case isNameStart(c):
			return x.name()
		default:
			return x.symbol(c)
		}
	}
	x.start = x.at
	return tokEOF
}

// newLine skips an end of line, which may be of two bytes.
func (x *lexer) newLine() {
	c := x.src[x.at]
	x.at++
	if n := x.char(0); (n == '\n' || n == '\r') && n != c {
		x.at++
	}
	x.line++
}

func (x *lexer) comment() {
	x.at += 2
	if x.char(0) == '[' {
		if level := x.longBracket(); level >= 0 {
			x.long(level, "comment")
			return
		}
	}
	for x.at < len(x.src) && x.src[x.at] != '\n' && x.src[x.at] != '\r' {
		x.at++
	}
}

// longBracket is how many equal signs stand in the long bracket that opens here, -1 if
// none does.
func (x *lexer) longBracket() int {
	level := 0
	for x.char(1+level) == '=' {
		level++
	}
	if x.char(1+level) == '[' {
		return level
	}
	return -1
}

func (x *lexer) bracketEnd() int {
	at := x.at + 1
	for at < len(x.src) && x.src[at] == '=' {
		at++
	}
	return at
}

// long reads a text in long brackets.
func (x *lexer) long(level int, what string) string {
	x.at += level + 2
	if c := x.char(0); x.at < len(x.src) && (c == '\n' || c == '\r') {
		x.newLine()
	}
	var text strings.Builder
	closing := "]" + strings.Repeat("=", level) + "]"
	for x.at < len(x.src) {
		switch c := x.src[x.at]; {
		case c == '\n' || c == '\r':
			x.newLine()
			text.WriteByte('\n')
		case c == '[' && level == 0 && x.char(1) == '[':
			x.at += 2
			x.fail("nesting of [[...]] is deprecated", "[")
		case c == ']' && strings.HasPrefix(x.src[x.at:], closing):
			x.at += len(closing)
			return text.String()
		default:
			text.WriteByte(c)
			x.at++
		}
	}
	x.fail("unfinished long "+what, "<eof>")
	return ""
}

// quoted reads a text in quotes.
func (x *lexer) quoted(quote byte) {
	x.at++
	var text []byte
	for x.char(0) != quote || x.at >= len(x.src) {
		if x.at >= len(x.src) {
			x.fail("unfinished string", "<eof>")
		}
		switch c := x.src[x.at]; c {
		case '\n', '\r':
			x.fail("unfinished string", string(append([]byte{quote}, text...)))
		case '\\':
			text = x.escape(quote, text)
		default:
			text = append(text, c)
			x.at++
		}
	}
	x.at++
	x.text = string(text)
}

// escape reads what stands behind a backslash.
func (x *lexer) escape(quote byte, text []byte) []byte {
	x.at++
	if x.at >= len(x.src) {
		return text // the end is reported by the caller
	}
	c := x.src[x.at]
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		x.at++
		return append(text, "\a\b\f\n\r\t\v"[i])
	}
	switch {
	case c == '\n' || c == '\r':
		x.newLine()
		return append(text, '\n')
	case !isDigit(c):
		x.at++
		return append(text, c)
	}
	n := 0
	for i := 0; i < 3 && isDigit(x.char(0)); i++ {
		n = 10*n + int(x.src[x.at]-'0')
		x.at++
	}
	if n > 255 {
		x.fail("escape sequence too large", string(append([]byte{quote}, text...)))
	}
	return append(text, byte(n))
}

func (x *lexer) numeral() token {
	for isDigit(x.char(0)) || x.char(0) == '.' {
		x.at++
	}
	if c := x.char(0) | 0x20; c == 'e' {
		x.at++
		if c := x.char(0); c == '+' || c == '-' {
			x.at++
		}
	}
	for isDigit(x.char(0)) || isNameStart(x.char(0)) {
		x.at++
	}
	n, ok := ParseNumber(x.src[x.start:x.at])
	if !ok {
		x.fail("malformed number", x.src[x.start:x.at])
	}
	x.number = n
	return tokNumber
}

func (x *lexer) name() token {
	for isDigit(x.char(0)) || isNameStart(x.char(0)) {
		x.at++
	}
	x.text = x.src[x.start:x.at]
	if t, ok := reserved[x.text]; ok {
		return t
	}
	return tokName
}

func (x *lexer) symbol(c byte) token {
	x.at++
	n := x.char(0)
	switch {
	case c == '.' && n == '.' && x.char(1) == '.':
		x.at += 2
		return tokDots
	case c == '.' && n == '.':
		x.at++
		return tokConcat
	case n == '=' && strings.IndexByte("=<>~", c) >= 0:
		x.at++
		switch c {
		case '=':
			return tokEqual
		case '<':
			return tokLessEqual
		case '>':
			return tokGreaterEqual
		}
		return tokNotEqual
	}
	return token(c)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' }
