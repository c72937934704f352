package redis

import "strings"

// ErrEscape is the answer to a percent sign without two hexadecimal digits.
const ErrEscape = Refusal("ERR invalid percent-encoding in the URL")

// TokenParameter is the query parameter that carries a token and is never an argument.
const TokenParameter = "_token"

// CutTarget takes a raw request target apart: the path without its leading slash, and
// the query. Scheme and authority of the absolute form are dropped; nothing is decoded.
func CutTarget(target string) (path, query string) {
	if target != "" && target[0] != '/' {
		if _, rest, absolute := strings.Cut(target, "://"); absolute {
			at := strings.IndexAny(rest, "/?")
			if at < 0 {
				return "", ""
			}
			target = rest[at:]
		}
	}
	path, query, _ = strings.Cut(target, "?")
	return strings.TrimPrefix(path, "/"), query
}

// Path adds the segments of a path that CutTarget returned as arguments. Each is decoded by
// itself, so %2F is a slash inside an argument; a plus stays a plus; one empty segment
// at the end is dropped.
func (w *Words) Path(path string) error {
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		return nil
	}
	for more := true; more; {
		var segment string
		segment, path, more = strings.Cut(path, "/")
		if err := w.decode(segment, false); err != nil {
			return err
		}
	}
	return nil
}

// Query adds the parameters of a raw query in their order: the name, then the value
// unless it is empty, so that ?NX is a bare flag. The token is left out.
func (w *Words) Query(query string) error {
	for query != "" {
		var parameter string
		parameter, query, _ = strings.Cut(query, "&")
		if parameter == "" {
			continue
		}
		name, value, _ := strings.Cut(parameter, "=")
		start := len(w.flat)
		if err := w.decode(name, true); err != nil {
			return err
		}
		if string(w.flat[start]) == TokenParameter {
			w.flat = w.flat[:start]
			continue
		}
		if value == "" {
			continue
		}
		if err := w.decode(value, true); err != nil {
			return err
		}
	}
	return nil
}

// Token appends the first token of a raw query to dst and reports whether there is one.
func Token(dst []byte, query string) ([]byte, bool) {
	for query != "" {
		var parameter string
		parameter, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(parameter, "=")
		if !isToken(name) {
			continue
		}
		token, ok := unescape(dst, value, true)
		return token, ok
	}
	return dst, false
}

func isToken(name string) bool {
	if len(name) <= len(TokenParameter) {
		return name == TokenParameter
	}
	var buf [3 * len(TokenParameter)]byte
	if len(name) > len(buf) {
		return false
	}
	plain, ok := unescape(buf[:0], name, true)
	return ok && string(plain) == TokenParameter
}

// decode adds s as an argument, decoded.
func (w *Words) decode(s string, form bool) error {
	start := len(w.text)
	text, ok := unescape(w.text, s, form)
	if !ok {
		return ErrEscape
	}
	// Growing text leaves earlier arguments in the old array, where they stay valid.
	w.text = text
	w.flat = append(w.flat, text[start:len(text):len(text)])
	return nil
}

// unescape appends s with its percent escapes decoded; in a form a plus is a space.
func unescape(dst []byte, s string, form bool) ([]byte, bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%':
			if i+2 >= len(s) {
				return dst, false
			}
			hi, lo := hexDigit(s[i+1]), hexDigit(s[i+2])
			if hi > 15 || lo > 15 {
				return dst, false
			}
			dst = append(dst, hi<<4|lo)
			i += 2
		case c == '+' && form:
			dst = append(dst, ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst, true
}

// hexDigit returns the value of a hexadecimal digit, above 15 for anything else.
func hexDigit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
