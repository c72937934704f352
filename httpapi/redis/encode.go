package redis

import (
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// Form selects the encoding of the strings of a reply.
type Form uint8

// The forms. Base64 encodes every string but the status OK of a whole reply; RESP2 is
// the binary form of the Redis protocol.
const (
	JSON Form = iota
	Base64
	RESP2
)

// AppendReply writes a command's whole reply: the envelope with its result or error, or
// the bare RESP2 reply.
func AppendReply(dst []byte, v reply.Value, f Form) []byte {
	switch {
	case f == RESP2:
		return reply.AppendRESP2(dst, v)
	case v.IsError():
		return AppendError(dst, v.Text())
	case v.Kind() == reply.KindStatus && v.Text() == "OK":
		return append(dst, `{"result":"OK"}`...)
	}
	dst = append(dst, `{"result":`...)
	dst = appendValue(dst, v, f)
	return append(dst, '}')
}

// AppendBatch writes the replies of a batch: an array of envelopes, or RESP2 replies one
// after the other.
func AppendBatch(dst []byte, values []reply.Value, f Form) []byte {
	if len(values) == 0 && f != RESP2 {
		return append(dst, "[]"...)
	}
	for i, v := range values {
		dst = AppendBatchElement(dst, v, i, len(values), f)
	}
	return dst
}

// AppendBatchElement writes reply i of n, and the parts of the array before and after it.
func AppendBatchElement(dst []byte, v reply.Value, i, n int, f Form) []byte {
	if f == RESP2 {
		return reply.AppendRESP2(dst, v)
	}
	before := byte(',')
	if i == 0 {
		before = '['
	}
	dst = AppendReply(append(dst, before), v, f)
	if i == n-1 {
		dst = append(dst, ']')
	}
	return dst
}

// AppendError writes the envelope of an error, whose text is never encoded.
func AppendError(dst []byte, text string) []byte {
	dst = append(dst, `{"error":`...)
	dst = appendString(dst, text)
	return append(dst, '}')
}

// appendValue writes v in RESP2's shapes: no objects, floats or truth values, which
// clients take for a missing result.
func appendValue(dst []byte, v reply.Value, f Form) []byte {
	switch v.Kind() {
	case reply.KindNil, reply.KindNilArray:
		return append(dst, "null"...)
	case reply.KindInt, reply.KindBool:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reply.KindArray, reply.KindMap, reply.KindSet, reply.KindPush, reply.KindPairs:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e, f)
		}
		return append(dst, ']')
	case reply.KindKeyed, reply.KindForms:
		return appendValue(dst, v.RESP2(), f)
	}
	if f == Base64 {
		return appendBase64(dst, v.Text())
	}
	return appendString(dst, v.Text())
}

func appendBase64(dst []byte, s string) []byte {
	return append(appendEncoded(append(dst, '"'), s), '"')
}

// appendEncoded writes s in base64, without quotation marks.
func appendEncoded(dst []byte, s string) []byte {
	n := base64.StdEncoding.EncodedLen(len(s))
	// The encoder takes bytes: s is put after the place of its encoded form.
	dst = slices.Grow(dst, n+len(s)+1)
	start := len(dst)
	raw := append(dst[start+n:start+n], s...)
	base64.StdEncoding.Encode(dst[start:start+n], raw)
	return dst[:start+n]
}

const hexDigits = "0123456789abcdef"

// appendString writes s as a JSON string. Each byte that isn't UTF-8 becomes U+FFFD;
// only what JSON demands is escaped.
func appendString(dst []byte, s string) []byte {
	return append(appendEscaped(append(slices.Grow(dst, len(s)+2), '"'), s), '"')
}

// appendEscaped does what appendString does, without quotation marks.
func appendEscaped(dst []byte, s string) []byte {
	for len(s) > 0 {
		n := 0
		for n < len(s) && asIs[s[n]] {
			n++
		}
		dst = append(dst, s[:n]...)
		if s = s[n:]; s == "" {
			break
		}
		if s[0] < utf8.RuneSelf {
			dst = appendEscape(dst, s[0])
			s = s[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		dst = utf8.AppendRune(dst, r)
		s = s[size:]
	}
	return dst
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// asIs marks the ASCII bytes that a JSON string holds unescaped.
var asIs = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()
