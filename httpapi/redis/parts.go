package redis

import (
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// textPart is the number of bytes of a long text that are encoded, or looked at, at a time, which takes some tenths of a millisecond.
const textPart = 64 << 10

// StreamBatchElement does what AppendBatchElement does, in parts: whenever dst has at least size bytes it is passed to
// flush, which returns the buffer to go on with. A reply of any size is encoded in little more memory than size bytes and
// one part of a text, a byte of which becomes at most MostWritten bytes.
func StreamBatchElement(dst []byte, v reply.Value, i, n int, f Form, size int, flush func([]byte) []byte) []byte {
	if f == RESP2 {
		return reply.Stream(dst, v, false, size, flush)
	}
	before := byte(',')
	if i == 0 {
		before = '['
	}
	dst = append(dst, before)
	if s := (stream{f, size, flush}); v.IsError() || v.Kind() == reply.KindStatus {
		dst = s.full(AppendReply(dst, v, f))
	} else {
		dst = append(s.value(append(dst, `{"result":`...), v), '}')
	}
	if i == n-1 {
		dst = append(dst, ']')
	}
	return dst
}

// stream encodes in parts.
type stream struct {
	form  Form
	size  int
	flush func([]byte) []byte
}

// full passes on what has the size of a part.
func (s stream) full(dst []byte) []byte {
	if len(dst) >= s.size {
		return s.flush(dst)
	}
	return dst
}

// value does what appendValue does, in parts.
func (s stream) value(dst []byte, v reply.Value) []byte {
	elems := v.Elems()
	switch {
	case v.Kind() == reply.KindKeyed, v.Kind() == reply.KindForms:
		return s.value(dst, v.RESP2())
	case len(elems) == 0 && len(v.Text()) > textPart:
		return s.text(dst, v.Text())
	case len(elems) == 0:
		return s.full(appendValue(dst, v, s.form))
	}
	dst = append(dst, '[')
	for i, e := range elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.value(dst, e)
	}
	return append(dst, ']')
}

// text encodes a long text.
func (s stream) text(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for text != "" {
		var n int
		if s.form == Base64 {
			n = min(len(text), textPart/3*3) // only the end is padded
			dst = appendEncoded(dst, text[:n])
		} else {
			n = partOf(text)
			dst = appendEscaped(dst, text[:n])
		}
		dst, text = s.full(dst), text[n:]
	}
	return append(dst, '"')
}

// partOf returns the number of bytes of a text's next part, which ends between two runes.
func partOf(text string) int {
	if len(text) <= textPart {
		return len(text)
	}
	for n := textPart; n > textPart-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return textPart // no text: each byte is by itself
}
