package lane

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// reply is a response, kept whole until the handler is done.
type reply struct {
	header http.Header
	status int
	body   []byte
	out    []byte
	close  bool
}

func (r *reply) begin() {
	clear(r.header)
	r.status, r.body, r.close = 0, r.body[:0], false
}

// Header is the reply's header map.
func (r *reply) Header() http.Header { return r.header }

// WriteHeader sets the status, once.
func (r *reply) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write adds to the body.
func (r *reply) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.body = append(r.body, b...)
	return len(b), nil
}

// finish makes the bytes to send.
func (r *reply) finish(headOnly, last bool) []byte {
	r.WriteHeader(http.StatusOK)
	b := append(r.out[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(r.status), 10)
	b = append(append(append(b, ' '), http.StatusText(r.status)...), "\r\n"...)
	length := false
	for name, values := range r.header { // unordered: the order of headers means nothing
		switch name {
		case "Content-Length":
			length = true
		case "Connection":
			r.close = r.close || len(values) > 0 && strings.EqualFold(values[0], "close")
		}
		for _, v := range values {
			b = append(append(append(b, name...), ": "...), clean(v)...)
			b = append(b, "\r\n"...)
		}
	}
	if _, told := r.header["Date"]; !told {
		b = append(append(append(b, "Date: "...), date()...), "\r\n"...)
	}
	if last && !r.close {
		b = append(b, "Connection: close\r\n"...)
	}
	if !length {
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, int64(len(r.body)), 10), "\r\n"...)
	}
	b = append(b, "\r\n"...)
	if !headOnly {
		b = append(b, r.body...)
	}
	r.out = b
	return b
}

// clean keeps a header value on one line, as net/http does.
func clean(v string) string {
	if strings.ContainsAny(v, "\r\n") {
		return strings.NewReplacer("\r", " ", "\n", " ").Replace(v)
	}
	return v
}

// dated is a Date header and the second it is of.
type dated struct {
	second int64
	text   string
}

var lastDate atomic.Pointer[dated]

// date is the Date header now, made once a second.
func date() string {
	now := time.Now()
	if d := lastDate.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &dated{now.Unix(), now.UTC().Format(http.TimeFormat)}
	lastDate.Store(d)
	return d.text
}
