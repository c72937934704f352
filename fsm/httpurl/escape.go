package httpurl

import "strings"

// part is a set of parts of a URL.
type part uint8

const (
	inFragment part = 1 << iota
	inQuery
	inPath
	inUser
)

// escaped says in which parts a byte is escaped: the percent-encode sets of the standard. Controls and what is beyond
// ASCII are escaped everywhere, a percent sign nowhere.
var escaped = func() (sets [256]part) {
	for c := range sets {
		if c < ' ' || c > '~' {
			sets[c] = inFragment | inQuery | inPath | inUser
		}
	}
	for _, s := range []struct {
		bytes string
		parts part
	}{
		{" \"<>", inFragment | inQuery | inPath | inUser}, {"`", inFragment | inPath | inUser}, {"#", inQuery | inPath | inUser},
		{"'", inQuery}, {"?^{}", inPath | inUser}, {"/:;=@[\\]|", inUser},
	} {
		for i := range len(s.bytes) {
			sets[s.bytes[i]] |= s.parts
		}
	}
	return sets
}()

const hexDigits = "0123456789ABCDEF"

// escape escapes a text for a part. Bytes that are not UTF-8 are escaped as they are.
func escape(text string, in part) string {
	n := 0
	for i := range len(text) {
		if escaped[text[i]]&in != 0 {
			n++
		}
	}
	if n == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 2*n)
	for i := range len(text) {
		c := text[i]
		if escaped[c]&in == 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

// unescape undoes escapes; a percent sign without two hexadecimal digits stays.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			high, low := digit(text[i+1]), digit(text[i+2])
			if high < 16 && low < 16 {
				b.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// digit is the value of a hexadecimal digit, 16 for any other byte.
func digit(c byte) uint64 {
	switch {
	case '0' <= c && c <= '9':
		return uint64(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return uint64(c|0x20-'a') + 10
	}
	return 16
}
