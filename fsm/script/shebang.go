package script

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
)

// Shebang is the first line of a script, if it begins with #!.
type Shebang struct {
	// Given reports whether there is one.
	Given bool
	Flags []string
}

// ReadOnly reports whether the script says of itself that it doesn't write.
func (s *Shebang) ReadOnly() bool { return slices.Contains(s.Flags, noWrites) }

// LocksKeys reports whether the script says of itself that it uses declared keys alone.
func (s *Shebang) LocksKeys() bool { return slices.Contains(s.Flags, keyLocking) }

// ParseShebang reads the first line of a script. Rules other than Exact accept unknown
// flags.
func ParseShebang(body string, rules Rules) (s Shebang, err error) {
	if !strings.HasPrefix(body, "#!") {
		return s, nil
	}
	line, _, more := strings.Cut(body, "\n")
	if !more {
		return s, errors.New("Invalid script shebang")
	}
	words, err := splitWords(line)
	switch {
	case err != nil:
		return s, errors.New("Invalid engine in script shebang")
	case len(words) == 0 || words[0] != "#!lua":
		return s, errors.New("Unexpected engine in script shebang: " + strings.Join(words[:min(len(words), 1)], ""))
	}
	s.Given = true
	for _, w := range words[1:] {
		flags, ok := strings.CutPrefix(w, "flags=")
		if !ok {
			return s, errors.New("Unknown lua shebang option: " + w)
		}
		if flags == "" {
			continue
		}
		for _, f := range strings.Split(flags, ",") {
			switch {
			case rules == Exact && !slices.Contains(functionFlags, f):
				return s, errors.New("Unexpected flag in script shebang: " + f)
			case f != "":
				s.Flags = append(s.Flags, f)
			}
		}
	}
	return s, nil
}

var errQuotes = errors.New("unbalanced quotes")

// splitWords parts a line at blanks. A word may be quoted: between double quotes a backslash
// begins an escape, between single ones only \' does. Behind a closing quote the word ends.
func splitWords(line string) (words []string, err error) {
	for at := 0; ; {
		for at < len(line) && ascii.IsBlank(line[at]) {
			at++
		}
		if at == len(line) {
			return words, nil
		}
		var word []byte
		if word, at, err = nextWord(line, at); err != nil {
			return nil, err
		}
		words = append(words, string(word))
	}
}

func nextWord(line string, at int) (word []byte, next int, err error) {
	for ; at < len(line) && !ascii.IsBlank(line[at]); at++ {
		q := line[at]
		if q != '"' && q != '\'' {
			word = append(word, q)
			continue
		}
		for at++; at < len(line) && line[at] != q; at++ {
			var c byte
			c, at = unescape(line, at, q)
			word = append(word, c)
		}
		if at == len(line) || at+1 < len(line) && !ascii.IsBlank(line[at+1]) {
			return nil, 0, errQuotes
		}
	}
	return word, at, nil
}

// unescape is the byte at a place between quotes q, and the place of its last character.
func unescape(line string, at int, q byte) (byte, int) {
	rest := line[at:]
	switch {
	case rest[0] != '\\' || len(rest) == 1:
	case q == '\'':
		if rest[1] == '\'' {
			return '\'', at + 1
		}
	case len(rest) >= 4 && rest[1] == 'x':
		if n, err := strconv.ParseUint(rest[2:4], 16, 8); err == nil {
			return byte(n), at + 3
		}
		return 'x', at + 1
	default:
		if i := strings.IndexByte("nrtba", rest[1]); i >= 0 {
			return "\n\r\t\b\a"[i], at + 1
		}
		return rest[1], at + 1
	}
	return rest[0], at
}
