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

// SyntaxError says why a program can't be compiled, in Lua's words and with the place.
type SyntaxError struct {
	Text string
	// Steps is the cost of the lines read until the error.
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

// work counts the tokens read of a program, and holds the budget that pays for each if it isn't paid for as a whole.
type work struct {
	tokens int
	budget *Budget
}

// steps is the price of compiling so many tokens of a text.
func (w *work) steps(src string) int { return len(src)/sourcePerStep + tokenCost*w.tokens }

// fail reports an error near the current token.
func (l *lexer) fail(text string, near string) {
	if near, _, _ = strings.Cut(near, "\x00"); near != "" { // as C prints it
		text += " near '" + near + "'"
	}
	panic(&SyntaxError{Text: l.chunk + ":" + strconv.Itoa(l.line) + ": " + text})
}

// near is the current token as an error shows it.
func (l *lexer) near() string {
	switch l.tok {
	case 0: // a zero byte, which Lua takes for no token in an error
		return ""
	case tokName, tokNumber:
		return l.src[l.start:l.at]
	case tokString:
		open, end := l.src[l.start:l.start+1], l.src[l.start:l.start+1]
		if open == "[" {
			open = l.src[l.start : l.start+2+strings.IndexByte(l.src[l.start+1:], '[')]
			end = strings.ReplaceAll(open, "[", "]")
		}
		return open + l.text + end
	}
	return l.tok.String()
}

func (l *lexer) failHere(text string) { l.fail(text, l.near()) }

// next moves on to the next token.
func (l *lexer) next() {
	l.lastLine = l.line
	if a := l.ahead; a != nil {
		l.at, l.line, l.start, l.tok, l.text, l.number, l.ahead = a.at, a.line, a.start, a.tok, a.text, a.number, nil
		return
	}
	l.tok = l.scan()
}

// peek is the token behind the current one.
func (l *lexer) peek() token {
	if l.ahead == nil {
		a := *l
		a.tok = a.scan()
		l.ahead = &a
	}
	return l.ahead.tok
}

// char is the byte at an offset from here, 0 behind the end.
func (l *lexer) char(offset int) byte {
	if l.at+offset < len(l.src) {
		return l.src[l.at+offset]
	}
	return 0
}

func (l *lexer) scan() token {
	l.work.tokens++
	if b := l.work.budget; b != nil {
		b.Step(tokenCost)
		b.Hold(sizeToken)
	}
	for l.at < len(l.src) {
		c := l.src[l.at]
		l.start = l.at
		switch {
		case c == '\n' || c == '\r':
			l.newLine()
		case c == ' ' || c == '\t' || c == '\v' || c == '\f':
			l.at++
		case c == '-' && l.char(1) == '-':
			l.comment()
		case c == '"' || c == '\'':
			l.quoted(c)
			return tokString
		case c == '[' && (l.char(1) == '[' || l.char(1) == '='):
			if level := l.longBracket(); level >= 0 {
				l.text = l.long(level, "string")
				return tokString
			}
			if l.char(1) == '=' {
				l.at = l.bracketEnd()
				l.fail("invalid long string delimiter", l.src[l.start:l.at])
			}
			l.at++
			return '['
		case isDigit(c) || c == '.' && isDigit(l.char(1)):
			return l.numeral()
		case isNameStart(c):
			return l.name()
		default:
			return l.symbol(c)
		}
	}
	l.start = l.at
	return tokEOF
}

// newLine skips an end of line, which may be of two bytes.
func (l *lexer) newLine() {
	c := l.src[l.at]
	l.at++
	if n := l.char(0); (n == '\n' || n == '\r') && n != c {
		l.at++
	}
	l.line++
}

func (l *lexer) comment() {
	l.at += 2
	if l.char(0) == '[' {
		if level := l.longBracket(); level >= 0 {
			l.long(level, "comment")
			return
		}
	}
	for l.at < len(l.src) && l.src[l.at] != '\n' && l.src[l.at] != '\r' {
		l.at++
	}
}

// longBracket returns the number of equal signs of the long bracket that opens here, -1 if
// none does.
func (l *lexer) longBracket() int {
	level := 0
	for l.char(1+level) == '=' {
		level++
	}
	if l.char(1+level) == '[' {
		return level
	}
	return -1
}

func (l *lexer) bracketEnd() int {
	at := l.at + 1
	for at < len(l.src) && l.src[at] == '=' {
		at++
	}
	return at
}

// long reads a text in long brackets.
func (l *lexer) long(level int, what string) string {
	l.at += level + 2
	if c := l.char(0); l.at < len(l.src) && (c == '\n' || c == '\r') {
		l.newLine()
	}
	var text strings.Builder
	closing := "]" + strings.Repeat("=", level) + "]"
	for l.at < len(l.src) {
		switch c := l.src[l.at]; {
		case c == '\n' || c == '\r':
			l.newLine()
			text.WriteByte('\n')
		case c == '[' && level == 0 && l.char(1) == '[':
			l.at += 2
			l.fail("nesting of [[...]] is deprecated", "[")
		case c == ']' && strings.HasPrefix(l.src[l.at:], closing):
			l.at += len(closing)
			return text.String()
		default:
			text.WriteByte(c)
			l.at++
		}
	}
	l.fail("unfinished long "+what, "<eof>")
	return ""
}

// quoted reads a text in quotes.
func (l *lexer) quoted(quote byte) {
	l.at++
	var text []byte
	for l.char(0) != quote || l.at >= len(l.src) {
		if l.at >= len(l.src) {
			l.fail("unfinished string", "<eof>")
		}
		switch c := l.src[l.at]; c {
		case '\n', '\r':
			l.fail("unfinished string", string(append([]byte{quote}, text...)))
		case '\\':
			text = l.escape(quote, text)
		default:
			text = append(text, c)
			l.at++
		}
	}
	l.at++
	l.text = string(text)
}

// escape reads what stands behind a backslash.
func (l *lexer) escape(quote byte, text []byte) []byte {
	l.at++
	if l.at >= len(l.src) {
		return text // the end is reported by the caller
	}
	c := l.src[l.at]
	if i := strings.IndexByte("abfnrtv", c); i >= 0 {
		l.at++
		return append(text, "\a\b\f\n\r\t\v"[i])
	}
	switch {
	case c == '\n' || c == '\r':
		l.newLine()
		return append(text, '\n')
	case !isDigit(c):
		l.at++
		return append(text, c)
	}
	n := 0
	for i := 0; i < 3 && isDigit(l.char(0)); i++ {
		n = 10*n + int(l.src[l.at]-'0')
		l.at++
	}
	if n > 255 {
		l.fail("escape sequence too large", string(append([]byte{quote}, text...)))
	}
	return append(text, byte(n))
}

func (l *lexer) numeral() token {
	for isDigit(l.char(0)) || l.char(0) == '.' {
		l.at++
	}
	if c := l.char(0) | 0x20; c == 'e' {
		l.at++
		if c := l.char(0); c == '+' || c == '-' {
			l.at++
		}
	}
	for isDigit(l.char(0)) || isNameStart(l.char(0)) {
		l.at++
	}
	n, ok := ParseNumber(l.src[l.start:l.at])
	if !ok {
		l.fail("malformed number", l.src[l.start:l.at])
	}
	l.number = n
	return tokNumber
}

func (l *lexer) name() token {
	for isDigit(l.char(0)) || isNameStart(l.char(0)) {
		l.at++
	}
	l.text = l.src[l.start:l.at]
	if t, ok := reserved[l.text]; ok {
		return t
	}
	return tokName
}

func (l *lexer) symbol(c byte) token {
	l.at++
	n := l.char(0)
	switch {
	case c == '.' && n == '.' && l.char(1) == '.':
		l.at += 2
		return tokDots
	case c == '.' && n == '.':
		l.at++
		return tokConcat
	case n == '=' && strings.IndexByte("=<>~", c) >= 0:
		l.at++
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
