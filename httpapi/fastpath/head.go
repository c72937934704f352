package fastpath

import (
	"bytes"
	"net/http"
	"net/textproto"

	"github.com/trireme-dev/trireme/internal/httpsyntax"
)

// head is the parsed head of a request. It is kept from one request of a connection to the next: lines that have not
// changed need no work.
type head struct {
	method string
	target string
	host   string
	length int
	header http.Header
	lines  []line
	seen   []byte // the header lines of the last request, as they came
	exact  bool   // header, host and length were read from seen
}

// line is a header line of the last request.
type line struct {
	raw    []byte // into seen
	length bool   // Content-Length: its value may change from request to request
}

var methodNames = map[string]string{
	"GET": http.MethodGet, "HEAD": http.MethodHead, "POST": http.MethodPost, "PUT": http.MethodPut,
	"PATCH": http.MethodPatch, "DELETE": http.MethodDelete,
}

// read parses a head that ends with an empty line. It returns false for everything that is not plain.
func (h *head) read(b []byte, plain func([]byte) bool) bool {
	end := bytes.IndexByte(b, '\n')
	if end < 1 || b[end-1] != '\r' {
		return false
	}
	return h.request(b[:end-1], plain) && h.fields(b[end+1:len(b)-2])
}

// request reads the request line.
func (h *head) request(b []byte, plain func([]byte) bool) bool {
	method, rest, ok := bytes.Cut(b, []byte{' '})
	if !ok {
		return false
	}
	target, version, ok := bytes.Cut(rest, []byte{' '})
	if !ok || string(version) != "HTTP/1.1" || !plainTarget(target) || !plain(target) {
		return false
	}
	if h.method = methodNames[string(method)]; h.method == "" {
		return false
	}
	if h.target != string(target) { // compared without making a string
		h.target = string(target)
	}
	return true
}

// plainTarget reports whether a target is a path of visible ASCII with whole escapes:
// what net/http takes as well.
func plainTarget(b []byte) bool {
	if len(b) == 0 || b[0] != '/' {
		return false
	}
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
		if c == '%' {
			if i+2 >= len(b) || !isHex(b[i+1]) || !isHex(b[i+2]) {
				return false
			}
			i += 2
		}
	}
	return true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// fields reads the header lines, each with its line end. The results of the connection's last request are reused only
// if the lines are the same byte by byte; a head without any line never is, because a plain one has a Host.
func (h *head) fields(b []byte) bool {
	if h.exact && bytes.Equal(b, h.seen) {
		return true
	}
	if h.same(b) {
		return true
	}
	return h.renew(b)
}

// same accepts lines that differ from the last request's at most in the Content-Length.
func (h *head) same(b []byte) bool {
	if h.header == nil {
		return false
	}
	for _, l := range h.lines {
		if bytes.HasPrefix(b, l.raw) && !l.length {
			b = b[len(l.raw):]
			continue
		}
		if !l.length {
			return false
		}
		end := bytes.IndexByte(b, '\n')
		colon := bytes.IndexByte(l.raw, ':')
		if end < 1 || b[end-1] != '\r' || !bytes.HasPrefix(b, l.raw[:colon+1]) {
			return false
		}
		n, ok := number(trimBlanks(b[colon+1 : end-1]))
		if !ok {
			return false
		}
		h.length = n
		b = b[end+1:]
	}
	if len(b) > 0 {
		return false
	}
	h.exact = false // the length is not the one in seen: compare line by line from now on
	return true
}

// renew reads all lines anew.
func (h *head) renew(b []byte) bool {
	kept := bytes.Clone(b)
	h.header, h.lines, h.seen, h.exact, h.host, h.length = nil, h.lines[:0], nil, false, "", 0
	header := make(http.Header, 16)
	hosts, lengths := 0, 0
	for rest := kept; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 1 || rest[end-1] != '\r' {
			return false
		}
		raw := rest[:end+1]
		rest = rest[end+1:]
		colon := bytes.IndexByte(raw, ':')
		if colon < 1 || !isPlainName(raw[:colon]) {
			return false
		}
		value := trimBlanks(raw[colon+1 : end-1])
		if !httpsyntax.IsValue(value) {
			return false
		}
		name := textproto.CanonicalMIMEHeaderKey(string(raw[:colon]))
		l := line{raw: raw}
		switch name {
		case "Host":
			hosts++
			h.host = string(value)
		case "Content-Length":
			n, ok := number(value)
			if !ok {
				return false
			}
			lengths, h.length, l.length = lengths+1, n, true
		case "Connection":
			if !bytes.EqualFold(value, []byte("keep-alive")) {
				return false
			}
		case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Te", "Content-Encoding", "Proxy-Connection", "Http2-Settings",
			"Pragma": // of which net/http makes a Cache-Control
			return false
		}
		if name != "Host" && !l.length { // those two stand in fields of their own
			header[name] = append(header[name], string(value))
		}
		h.lines = append(h.lines, l)
	}
	if hosts != 1 || lengths > 1 || !httpsyntax.IsPlainHost(h.host) {
		return false
	}
	h.header, h.seen, h.exact = header, kept, true
	return true
}

// number reads a Content-Length: digits only.
func number(b []byte) (n int, ok bool) {
	if len(b) == 0 || len(b) > 10 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// isPlainName reports whether b is a header name of usual characters. net/http judges the others that RFC 9110 allows.
func isPlainName(b []byte) bool {
	for _, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '!', c == '~':
		default:
			return false
		}
	}
	return len(b) > 0
}
