package httpclient

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/trireme-dev/trireme/internal/httpsyntax"
)

// maxBody is the largest body that is sent here, in bytes: for a larger one the copy costs more than it saves.
const maxBody = 1 << 20

// connectionHeaders lists, by length, the headers that net/http writes itself or that change its handling of the connection.
var connectionHeaders = [...][]string{
	2: {"Te"}, 4: {"Host"}, 6: {"Expect"}, 7: {"Trailer", "Upgrade"}, 10: {"Connection", "Keep-Alive"}, 14: {"Content-Length"},
	16: {"Proxy-Connection"}, 17: {"Transfer-Encoding"},
}

// isOfConnection reports whether a header is one of those, in any case of letters.
func isOfConnection(name string) bool {
	if len(name) >= len(connectionHeaders) {
		return false
	}
	for _, one := range connectionHeaders[len(name)] {
		if strings.EqualFold(one, name) {
			return true
		}
	}
	return false
}

// Fits reports whether a Client sends a request as net/http's Transport would.
func Fits(r *http.Request) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodGet:
	default: // HEAD and CONNECT have answers of their own
		return false
	}
	u := r.URL
	if u == nil || u.Scheme != "http" || u.Opaque != "" || !httpsyntax.IsPlainHost(u.Host) || u.Hostname() == "" || r.Host != "" && !httpsyntax.IsPlainHost(r.Host) {
		return false
	}
	if r.Close || len(r.Trailer) > 0 || len(r.TransferEncoding) > 0 || r.ContentLength < 0 || r.ContentLength > maxBody {
		return false
	}
	if none := r.Body == nil || r.Body == http.NoBody; none != (r.ContentLength == 0) {
		return false
	}
	for name, values := range r.Header {
		if !httpsyntax.IsToken(name) || isOfConnection(name) || !all(values, httpsyntax.IsValue[string]) {
			return false
		}
	}
	return true
}

func all(values []string, f func(string) bool) bool {
	for _, v := range values {
		if !f(v) {
			return false
		}
	}
	return true
}

// addrOf is the address of a URL that fits.
func addrOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return net.JoinHostPort(u.Hostname(), port)
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

var errBodyLength = errors.New("httpclient: the body does not have the length of the request")

// keyLists are lists of header names, to sort them.
var keyLists = sync.Pool{New: func() any { return new([]string) }}

// appendRequest writes a request that fits: the bytes are those that net/http sends.
func appendRequest(b []byte, r *http.Request) ([]byte, error) {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	uri := r.URL.RequestURI()
	for i := range len(uri) {
		if uri[i] < ' ' || uri[i] == 0x7f {
			return b, errors.New("httpclient: control character in the URL")
		}
	}
	b = append(append(append(append(b, r.Method...), ' '), uri...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, host...), "\r\n"...)
	agent, own := "Go-http-client/1.1", false
	if values, has := r.Header["User-Agent"]; has {
		if agent, own = "", true; len(values) > 0 {
			agent = textproto.TrimString(values[0])
		}
	}
	if agent != "" {
		b = append(append(append(b, "User-Agent: "...), agent...), "\r\n"...)
	}
	if r.ContentLength > 0 || r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, r.ContentLength, 10), "\r\n"...)
	}
	names := keyLists.Get().(*[]string)
	*names = (*names)[:0]
	for name := range r.Header {
		if !own || name != "User-Agent" {
			*names = append(*names, name)
		}
	}
	slices.Sort(*names)
	for _, name := range *names {
		for _, v := range r.Header[name] {
			b = append(append(append(append(b, name...), ": "...), textproto.TrimString(v)...), "\r\n"...)
		}
	}
	keyLists.Put(names)
	b = append(b, "\r\n"...)
	if r.ContentLength == 0 {
		return b, nil
	}
	return appendBody(b, r)
}

// appendBody appends a body of exactly the announced length.
func appendBody(b []byte, r *http.Request) ([]byte, error) {
	begin, n := len(b), int(r.ContentLength)
	b = slices.Grow(b, n+1)[:begin+n]
	if _, err := io.ReadFull(r.Body, b[begin:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errBodyLength
		}
		return b, err
	}
	var more [1]byte
	if n, err := r.Body.Read(more[:]); n > 0 || err != nil && !errors.Is(err, io.EOF) {
		return b, errBodyLength
	}
	return b, nil
}
