package ascii

import "strings"

// Lower returns s with A to Z in lower case and every other byte as it is.
func Lower(s string) string { return mapped(s, 'A', 'Z', 'a'-'A') }

// Upper returns s with a to z in upper case and every other byte as it is.
func Upper(s string) string { return mapped(s, 'a', 'z', 'a'-'A') }

// mapped flips the bits of case in the bytes from first to last.
func mapped(s string, first, last, bits byte) string {
	at := 0
	for at < len(s) && (s[at] < first || s[at] > last) {
		at++
	}
	if at == len(s) {
		return s
	}
	b := []byte(s)
	for i := at; i < len(b); i++ {
		if first <= b[i] && b[i] <= last {
			b[i] ^= bits
		}
	}
	return string(b)
}

// EqualFold reports whether a and b are the same but for the case of A to Z.
func EqualFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if c, d := a[i], b[i]; c != d && (c|0x20 != d|0x20 || c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// Blank are the characters for which IsBlank holds.
const Blank = " \t\n\v\f\r"

// IsBlank reports whether c is a space as isspace of C tells them.
func IsBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// Fields returns the words of s between blanks.
func Fields(s string) (words []string) {
	for {
		if s = strings.TrimLeft(s, Blank); s == "" {
			return words
		}
		end := strings.IndexAny(s, Blank)
		if end < 0 {
			end = len(s)
		}
		words, s = append(words, s[:end]), s[end:]
	}
}
