package redis

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/yield"
)

// MostWritten is the most bytes of a reply that a byte of a value can become: a control character in JSON.
const MostWritten = 6

// Size returns the number of bytes that AppendReply writes, without writing them.
func Size(v reply.Value, f Form) int64 {
	switch {
	case f == RESP2:
		return sizeRESP2(v)
	case v.IsError():
		return int64(len(`{"error":}`)) + sizeString(v.Text())
	case v.Kind() == reply.KindStatus && v.Text() == "OK":
		return int64(len(`{"result":"OK"}`))
	}
	return int64(len(`{"result":}`)) + sizeValue(v, f)
}

func sizeValue(v reply.Value, f Form) (n int64) {
	switch v.Kind() {
	case reply.KindNil, reply.KindNilArray:
		return int64(len("null"))
	case reply.KindInt, reply.KindBool:
		return sizeInt(v.Int())
	case reply.KindArray, reply.KindMap, reply.KindSet, reply.KindPush, reply.KindPairs:
		elems := v.Elems()
		n = 2 + int64(max(0, len(elems)-1))
		for i := range elems {
			n += sizeValue(elems[i], f)
		}
		return n
	case reply.KindKeyed, reply.KindForms:
		return sizeValue(v.RESP2(), f)
	}
	if f == Base64 {
		return 2 + int64(base64.StdEncoding.EncodedLen(len(v.Text())))
	}
	return sizeString(v.Text())
}

func sizeInt(n int64) int64 {
	var b [20]byte
	return int64(len(strconv.AppendInt(b[:0], n, 10)))
}

// yieldAbove is the length from which on other goroutines run between the parts of a text that is measured. It is more
// than a view that keeps writes waiting may measure.
const yieldAbove = 1 << 20

// sizeString returns the length of s as appendString writes it.
func sizeString(s string) int64 {
	n := int64(2)
	if len(s) > yieldAbove {
		for len(s) > textPart {
			part := partOf(s)
			n, s = n+sizeEscaped(s[:part]), s[part:]
			yield.Processor()
		}
	}
	return n + sizeEscaped(s)
}

// sizeEscaped returns the length of s as appendEscaped writes it.
func sizeEscaped(s string) (n int64) {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n += int64(escaped[s[i]])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		n += int64(utf8.RuneLen(r))
		i += size
	}
	return n
}

// escaped is the number of bytes that appendEscaped writes for each ASCII byte.
var escaped = func() (t [utf8.RuneSelf]uint8) {
	for c := range t {
		t[c] = uint8(len(appendEscaped(nil, string(byte(c)))))
	}
	return t
}()

// sizeRESP2 estimates the length of the binary form: its strings as they are.
func sizeRESP2(v reply.Value) int64 {
	n := int64(len(v.Text())) + 24
	elems := v.Elems()
	for i := range elems {
		n += sizeRESP2(elems[i])
	}
	if v.Kind() == reply.KindKeyed {
		n += sizeRESP2(v.RESP2())
	}
	return n
}
