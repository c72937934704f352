package pubsub

import (
	"slices"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/fsm/ascii"
)

// httpAddr stands for the address of every client that came over HTTP.
const httpAddr = "0.0.0.0:0"

// redacted stands for arguments that may hold a secret.
const redacted = "(redacted)"

// AppendLine writes the line of a monitor for one command: the time in Unix seconds and
// microseconds, the database's number and the client's address, and the quoted words as they were
// sent; over HTTP the first in upper case, as the reference service shows it.
func AppendLine(dst []byte, at time.Time, addr string, argv [][]byte) []byte {
	us := at.UnixMicro()
	dst = strconv.AppendInt(dst, us/1e6, 10)
	frac := strconv.AppendInt(nil, 1e6+us%1e6, 10) // a one, and six digits
	dst = append(append(dst, '.'), frac[1:]...)
	http := addr == ""
	if http {
		addr = httpAddr
	}
	dst = append(append(append(dst, " [0 "...), addr...), ']')
	from, to := secretWords(argv)
	for i, word := range argv {
		dst = append(dst, ' ')
		switch {
		case i >= from && i < to:
			dst = append(append(append(dst, '"'), redacted...), '"')
		case i == 0 && http:
			dst = appendQuoted(dst, []byte(ascii.Upper(string(word))))
		default:
			dst = appendQuoted(dst, word)
		}
	}
	return dst
}

// secrets are the commands whose arguments may hold a password or a token, and how many words of them may be shown.
var secrets = []struct {
	words []string
	open  int
}{
	{[]string{"AUTH"}, 1},
	{[]string{"MIGRATE"}, 6},
	{[]string{"ACL", "SETUSER"}, 3},
	{[]string{"ACL", "RESTTOKEN"}, 3},
	{[]string{"ACL", "GENTOKEN"}, 2},
	{[]string{"CONFIG", "SET"}, 3},
}

// secretWords are the words of a command that may not be shown, to excluded.
func secretWords(argv [][]byte) (from, to int) {
	if !begins(argv, "HELLO") {
		return shownWords(argv), len(argv)
	}
	for i, word := range argv {
		if i > 1 && equalFold(word, "AUTH") {
			return i + 1, min(i+3, len(argv))
		}
	}
	return min(2, len(argv)), len(argv) // words that mean nothing may be a secret in the wrong place
}

// shownWords returns the number of a command's words that may be shown. Of CONFIG SET, only the
// setting without a secret is shown whole.
func shownWords(argv [][]byte) int {
	for _, s := range secrets {
		if !begins(argv, s.words...) {
			continue
		}
		if s.words[0] == "CONFIG" && len(argv) == 4 && equalFold(argv[2], "NOTIFY-KEYSPACE-EVENTS") {
			break
		}
		return s.open
	}
	return len(argv)
}

func begins(argv [][]byte, words ...string) bool {
	return len(argv) >= len(words) && slices.EqualFunc(argv[:len(words)], words, equalFold)
}

func equalFold(b []byte, word string) bool { return ascii.EqualFold(string(b), word) }

// appendQuoted writes b in double quotes, with the escapes that redis-cli reads: all bytes but printable ASCII.
func appendQuoted(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range b {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c == '\a':
			dst = append(dst, `\a`...)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c < ' ' || c > '~':
			dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
