package protocol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// ErrReply says that what was read is no reply.
var ErrReply = errors.New("protocol: malformed reply")

// ReadReply reads one reply or push of RESP2 or RESP3, as a client does. Doubles keep the text
// that they came with. A reply that is an error is no error of ReadReply.
func ReadReply(in *bufio.Reader) (reply.Value, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return reply.Value{}, err
	}
	text, whole := strings.CutSuffix(line, "\r\n")
	if !whole || text == "" {
		return reply.Value{}, fmt.Errorf("%w: line %q", ErrReply, line)
	}
	switch mark, rest := text[0], text[1:]; mark {
	case '+':
		return reply.Status(rest), nil
	case '-':
		return reply.Error(rest), nil
	case '_':
		return reply.Nil(), nil
	case '#':
		return reply.Bool(rest == "t"), nil
	case ',':
		f, err := strconv.ParseFloat(rest, 64)
		return reply.Double(f, rest), err
	case '(':
		return reply.BigNumber(rest), nil
	case ':', '$', '=', '*', '%', '~', '>':
		n, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			return reply.Value{}, fmt.Errorf("%w: line %q", ErrReply, line)
		}
		return readSized(in, mark, n)
	}
	return reply.Value{}, fmt.Errorf("%w: line %q", ErrReply, line)
}

// readSized reads what follows a line with a number.
func readSized(in *bufio.Reader, mark byte, n int64) (reply.Value, error) {
	switch mark {
	case ':':
		return reply.Int(n), nil
	case '$', '=':
		return readText(in, mark, n)
	}
	if n < 0 {
		return reply.NilArray(), nil
	}
	if mark == '%' {
		n *= 2
	}
	var elems []reply.Value // grows with what comes, whatever was announced
	for range n {
		e, err := ReadReply(in)
		if err != nil {
			return reply.Value{}, err
		}
		elems = append(elems, e)
	}
	switch mark {
	case '%':
		return reply.Map(elems...), nil
	case '~':
		return reply.Set(elems...), nil
	case '>':
		return reply.Push(elems...), nil
	}
	return reply.Array(elems...), nil
}

// maxTextLength bounds the announced length of a text that a client accepts, in bytes.
const maxTextLength = 1 << 30

func readText(in *bufio.Reader, mark byte, n int64) (reply.Value, error) {
	if n < 0 {
		return reply.Nil(), nil
	}
	if n > maxTextLength {
		return reply.Value{}, fmt.Errorf("%w: a text of %d bytes", ErrReply, n)
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(in, b); err != nil {
		return reply.Value{}, err
	}
	text := string(b[:n])
	if mark == '=' {
		return reply.Verbatim(strings.TrimPrefix(text, "txt:")), nil
	}
	return reply.Bulk(text), nil
}

// ByValue is a reply whose doubles are printed as this product prints them. Redis before 7.2
// printed 17 digits of each, so replies of different servers are compared in this form.
func ByValue(v reply.Value) reply.Value {
	if v.Kind() == reply.KindDouble {
		return reply.Number(v.Float())
	}
	if len(v.Elems()) == 0 {
		return v
	}
	elems := make([]reply.Value, len(v.Elems()))
	for i, e := range v.Elems() {
		elems[i] = ByValue(e)
	}
	switch v.Kind() {
	case reply.KindMap:
		return reply.Map(elems...)
	case reply.KindSet:
		return reply.Set(elems...)
	case reply.KindPush:
		return reply.Push(elems...)
	}
	return reply.Array(elems...)
}
