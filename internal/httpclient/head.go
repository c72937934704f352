package httpclient

import (
	"bytes"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/trireme-dev/trireme/internal/httpsyntax"
)

// head is the head of an answer.
type head struct {
	status  string
	code    int
	header  http.Header
	length  int64
	chunked bool
}

const version = "HTTP/1.1 "

// read takes apart a head that ends with an empty line. It is false for everything that is not plain: what it reads,
// net/http reads alike.
func (h *head) read(b []byte) bool {
	text := string(b[:len(b)-2]) // of which all that is kept is a part
	line, rest, _ := cutLine(text)
	if !h.readStatus(line) {
		return false
	}
	lines := bytes.Count(b, []byte{'\n'}) - 2
	h.header = make(http.Header, lines)
	values := make([]string, lines)
	lengths, codings := 0, 0
	for rest != "" {
		var ok bool
		if line, rest, ok = cutLine(rest); !ok {
			return false
		}
		colon := strings.IndexByte(line, ':')
		if colon < 1 || !httpsyntax.IsToken(line[:colon]) {
			return false
		}
		value := textproto.TrimString(line[colon+1:])
		if !httpsyntax.IsValue(value) {
			return false
		}
		name := textproto.CanonicalMIMEHeaderKey(line[:colon])
		switch name {
		case "Content-Length":
			if lengths++; !h.readLength(value) {
				return false
			}
		case "Transfer-Encoding":
			if codings++; !strings.EqualFold(value, "chunked") {
				return false
			}
		case "Connection":
			if !strings.EqualFold(value, "keep-alive") {
				return false
			}
		case "Trailer", "Upgrade", "Pragma": // of the last one net/http makes a Cache-Control
			return false
		}
		if old := h.header[name]; old != nil {
			h.header[name] = append(old, value)
			continue
		}
		values[0] = value
		h.header[name] = values[:1:1]
		values = values[1:]
	}
	h.chunked = codings > 0
	switch {
	case h.code == http.StatusNoContent:
		return lengths == 0 && codings == 0
	case h.code == http.StatusNotModified:
		return false
	}
	return lengths+codings == 1
}

// readStatus reads the first line: three digits, and a reason that may be missing.
func (h *head) readStatus(line string) bool {
	if !strings.HasPrefix(line, version) || len(line) < len(version)+3 {
		return false
	}
	h.status = line[len(version):]
	for i := range 3 {
		c := h.status[i]
		if c < '0' || c > '9' {
			return false
		}
		h.code = h.code*10 + int(c-'0')
	}
	return h.code >= 200 && (len(h.status) > 4 && h.status[3] == ' ' && h.status[4] != ' ') && httpsyntax.IsValue(h.status)
}

// readLength reads a Content-Length: digits only.
func (h *head) readLength(s string) bool {
	if s == "" || len(s) > 18 {
		return false
	}
	h.length = 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		h.length = h.length*10 + int64(s[i]-'0')
	}
	return true
}

// cutLine cuts the first line off; it is false if that doesn't end by a carriage return and a line feed, or has another
// carriage return.
func cutLine(s string) (line, rest string, ok bool) {
	i := strings.IndexByte(s, '\n')
	if i < 1 || s[i-1] != '\r' || strings.IndexByte(s[:i-1], '\r') >= 0 {
		return "", "", false
	}
	return s[:i-1], s[i+1:], true
}
