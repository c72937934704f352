package scripttest

import (
	"errors"
	"strconv"
	"strings"
)

var (
	errQuote = errors.New("unbalanced quotes")
	errEmpty = errors.New("no command")
)

// Split cuts a line into words as redis-cli does.
func Split(line string) ([][]byte, error) {
	var words [][]byte
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			break
		}
		word, rest, err := nextWord(line)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), rest
	}
	if len(words) == 0 {
		return nil, errEmpty
	}
	return words, nil
}

// nextWord takes the first word of a line that begins with one.
func nextWord(line string) (word []byte, rest string, err error) {
	word = []byte{}
	for line != "" && line[0] != ' ' && line[0] != '\t' {
		switch line[0] {
		case '"', '\'':
			part, rest, err := quoted(line[1:], line[0])
			if err != nil {
				return nil, "", err
			}
			word, line = append(word, part...), rest
			if line != "" && line[0] != ' ' && line[0] != '\t' {
				return nil, "", errQuote
			}
		default:
			word, line = append(word, line[0]), line[1:]
		}
	}
	return word, line, nil
}

// quoted reads up to the closing quote; only double quotes know escapes other than
// that of the quote itself.
func quoted(s string, quote byte) (word []byte, rest string, err error) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			return word, s[i+1:], nil
		case c == '\\' && i+1 < len(s) && (quote == '"' || s[i+1] == quote):
			b, used := escape(s[i+1:])
			word, i = append(word, b), i+used
		default:
			word = append(word, c)
		}
	}
	return nil, "", errQuote
}

// escape reads what follows a backslash and says how many bytes it took.
func escape(s string) (b byte, used int) {
	if len(s) >= 3 && s[0] == 'x' {
		if n, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			return byte(n), 3
		}
	}
	if i := strings.IndexByte("nrtba", s[0]); i >= 0 {
		return "\n\r\t\b\a"[i], 1
	}
	return s[0], 1
}

// Quote writes bytes as redis-cli does.
func Quote(s string) string {
	const hex = "0123456789abcdef"
	b := []byte{'"'}
	for i := range len(s) {
		c := s[i]
		switch at := strings.IndexByte("\n\r\t\b\a", c); {
		case at >= 0:
			b = append(b, '\\', "nrtba"[at])
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}
