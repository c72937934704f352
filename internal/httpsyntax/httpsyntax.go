package httpsyntax

import "bytes"

// IsToken reports whether s is a token of RFC 9110, section 5.6.2: what methods and header names are made of.
func IsToken[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

var tokenBytes = func() (t [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		t[c] = true
	}
	return t
}()

// IsValue reports whether s is a header value without control characters, a tab apart.
func IsValue[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// IsPlainHost reports whether a Host is a name or an address without escapes, with a port at most. Others may be valid.
func IsPlainHost(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == ':', c == '[', c == ']', c == '_':
		default:
			return false
		}
	}
	return s != ""
}

// HasBareLineFeed reports whether a line of b ends without a carriage return. net/http takes such heads.
func HasBareLineFeed(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return false
		}
		if i == 0 || b[i-1] != '\r' {
			return true
		}
		b = b[i+1:]
	}
}
