package protocol

import "bytes"

// inline reads a command of one line, with words parted by blanks.
func (p *Parser) inline(buf []byte, l *Limits) (argv [][]byte, size int, err error) {
	end := bytes.IndexByte(buf[p.seen:], '\n')
	switch {
	case end < 0 && len(buf) > l.Inline, end+p.seen > l.Inline:
		return nil, 0, protocolError("too big inline request")
	case end < 0:
		p.seen = len(buf)
		return nil, 0, ErrIncomplete
	}
	end += p.seen
	p.seen = 0
	line := buf[:end]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	start := len(p.flat)
	for {
		line = bytes.TrimLeft(line, " \t\r\n\v\f\x00")
		if len(line) == 0 {
			break
		}
		word, rest, ok := cutWord(line)
		if !ok {
			return nil, 0, protocolError("unbalanced quotes in request")
		}
		if len(p.flat)-start >= l.Words {
			return nil, 0, protocolError("too big inline request")
		}
		p.flat, line = append(p.flat, word), rest
	}
	return p.flat[start:len(p.flat):len(p.flat)], end + 1, nil
}

func blank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f' || c == 0
}

// cutWord takes the first word off a line that begins with one. A quoted part may hold
// blanks, and escapes if the quotes are double; behind a closing quote a blank must
// follow.
func cutWord(line []byte) (word, rest []byte, ok bool) {
	i := 0
	for i < len(line) && !blank(line[i]) && line[i] != '"' && line[i] != '\'' {
		i++
	}
	if i == len(line) || blank(line[i]) {
		return line[:i:i], line[i:], true
	}
	word = append(word, line[:i]...)
	for i < len(line) && !blank(line[i]) {
		switch quote := line[i]; quote {
		case '"', '\'':
			var n int
			if word, n, ok = unquote(word, line[i+1:], quote); !ok {
				return nil, nil, false
			}
			if i += 1 + n; i < len(line) && !blank(line[i]) {
				return nil, nil, false
			}
		default:
			word = append(word, quote)
			i++
		}
	}
	return word, line[i:], true
}

// unquote appends what stands up to the closing quote and says how long that is, the
// quote included.
func unquote(dst, s []byte, quote byte) (word []byte, n int, ok bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return dst, i + 1, true
		case c != '\\' || i+1 == len(s):
			dst = append(dst, c)
		case quote == '\'':
			if s[i+1] == '\'' {
				i++
			}
			dst = append(dst, s[i])
		default:
			var width int
			dst, width = escape(dst, s[i+1:])
			i += width
		}
	}
	return dst, 0, false
}

// escape appends what the escape behind a backslash stands for, and says how long it is.
func escape(dst, s []byte) ([]byte, int) {
	if s[0] == 'x' && len(s) > 2 {
		high, low := hex(s[1]), hex(s[2])
		if high >= 0 && low >= 0 {
			return append(dst, byte(high<<4|low)), 3
		}
	}
	plain := map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'a': '\a'}
	if c, known := plain[s[0]]; known {
		return append(dst, c), 1
	}
	return append(dst, s[0]), 1
}

func hex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
