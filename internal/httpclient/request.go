package httpclient

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"

	"github.com/trireme-dev/trireme/internal/httpsyntax"
)

// maxBody is the largest body that is copied behind its head, to leave with it, in bytes: for a larger one the copy costs
// more than it saves.
const maxBody = 1 << 20

// connectionHeaders lists, by length, the headers that belong to the connection: a Client writes them itself, or not at all.
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

// check says why a Client does not send a request.
func check(r *http.Request) error {
	u := r.URL
	switch {
	case u == nil || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the URL's scheme is neither http nor https")
	case u.Hostname() == "" || !httpguts.ValidHostHeader(hostOf(r)) || !httpguts.ValidHostHeader(u.Host):
		return fmt.Errorf("invalid host %q", hostOf(r))
	case r.Method != "" && !httpsyntax.IsToken(r.Method), r.Method == http.MethodConnect:
		return fmt.Errorf("invalid method %q", r.Method)
	case len(r.Trailer) > 0 || len(r.TransferEncoding) > 0:
		return errors.New("the request has trailers or a transfer encoding of its own")
	case r.ContentLength > 0 && !hasBody(r):
		return errBodyLength
	}
	for name, values := range r.Header {
		switch {
		case !httpsyntax.IsToken(name):
			return fmt.Errorf("invalid header field name %q", name)
		case isOfConnection(name):
			return fmt.Errorf("the header %q belongs to the connection", name)
		case !all(values, httpsyntax.IsValue[string]):
			return fmt.Errorf("invalid header field value for %q", name)
		}
	}
	return nil
}

// hostOf is the host that a request names to the server.
func hostOf(r *http.Request) string {
	if r.Host != "" {
		return withoutZone(r.Host)
	}
	return withoutZone(r.URL.Host)
}

// withoutZone leaves out the zone of an address in brackets, which means nothing to the server.
func withoutZone(host string) string {
	from, to := strings.IndexByte(host, '%'), strings.LastIndexByte(host, ']')
	if from < 0 || to < from || host[0] != '[' {
		return host
	}
	return host[:from] + host[to:]
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// lengthOf is the length of a request's body, -1 if it is not known.
func lengthOf(r *http.Request) int64 {
	switch {
	case !hasBody(r):
		return 0
	case r.ContentLength > 0:
		return r.ContentLength
	}
	return -1
}

// isStreamed reports whether the body of a request is written after its head, as it is read.
func isStreamed(r *http.Request) bool {
	n := lengthOf(r)
	return n < 0 || n > maxBody
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		r.Body.Close()
	}
}

func all(values []string, f func(string) bool) bool {
	for _, v := range values {
		if !f(v) {
			return false
		}
	}
	return true
}

var errBodyLength = errors.New("httpclient: the body does not have the length of the request")

// keyLists are lists of header names, to sort them.
var keyLists = sync.Pool{New: func() any { return new([]string) }}

// ownAgent is the User-Agent of a request without one, that of net/http.
const ownAgent = "Go-http-client/1.1"

// appendRequest writes a request, without a body that is streamed: the bytes are those that net/http sends.
func (c *Client) appendRequest(b []byte, r *http.Request) ([]byte, error) {
	host, uri, method := hostOf(r), r.URL.RequestURI(), r.Method
	viaProxy := c.Proxy != nil && r.URL.Scheme == "http"
	if viaProxy {
		uri = "http://" + host + uri
	}
	if method == "" {
		method = http.MethodGet
	}
	for i := range len(uri) {
		if uri[i] < ' ' || uri[i] == 0x7f {
			return b, errors.New("httpclient: control character in the URL")
		}
	}
	b = append(append(append(append(b, method...), ' '), uri...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, host...), "\r\n"...)
	agent, own := ownAgent, false
	if values, has := r.Header["User-Agent"]; has {
		if agent, own = "", true; len(values) > 0 {
			agent = textproto.TrimString(values[0])
		}
	}
	if agent != "" {
		b = append(append(append(b, "User-Agent: "...), agent...), "\r\n"...)
	}
	if r.Close {
		b = append(b, "Connection: close\r\n"...)
	}
	length := lengthOf(r)
	switch {
	case length < 0:
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	case length > 0 || method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch:
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, length, 10), "\r\n"...)
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
	if viaProxy && r.Header[proxyAuthorizationHeader] == nil {
		if value := proxyAuthorization(c.Proxy); value != "" {
			b = append(append(append(b, proxyAuthorizationHeader+": "...), value...), "\r\n"...)
		}
	}
	b = append(b, "\r\n"...)
	if length == 0 || isStreamed(r) {
		return b, nil
	}
	b, err := appendBody(b, r)
	closeBody(r)
	return b, err
}

// unread is a request of which the body may be in out already.
func unread(r *http.Request, out []byte) *http.Request {
	if n := lengthOf(r); len(out) > 0 && n > 0 && !isStreamed(r) {
		r = r.WithContext(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(out[len(out)-int(n):]))
	}
	return r
}

// bodyReader is a body that is streamed, with what went wrong with it.
type bodyReader struct {
	from io.Reader
	err  error
}

func (r *bodyReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// streamBody writes a body as it is read. It fails if the body does; an error of w it leaves to others.
func streamBody(w io.Writer, r *http.Request) error {
	defer r.Body.Close()
	body := &bodyReader{from: r.Body}
	if length := lengthOf(r); length >= 0 {
		n, err := io.CopyN(w, body, length)
		switch {
		case body.err != nil:
			return body.err
		case n < length && errors.Is(err, io.EOF):
			return errBodyLength
		case err != nil:
			return nil
		}
		return noMore(r.Body)
	}
	out := bufio.NewWriter(w)
	chunks := httputil.NewChunkedWriter(out)
	if _, err := io.Copy(chunks, body); err != nil {
		return body.err
	}
	if chunks.Close() == nil {
		_, _ = out.WriteString("\r\n") // the end of the trailers, of which there are none
		_ = out.Flush()
	}
	return nil
}

// noMore fails if there is more of a body than was told.
func noMore(body io.Reader) error {
	var more [1]byte
	if n, err := body.Read(more[:]); n > 0 || err != nil && !errors.Is(err, io.EOF) {
		return errBodyLength
	}
	return nil
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
	return b, noMore(r.Body)
}
