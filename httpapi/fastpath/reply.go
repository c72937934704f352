package fastpath

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// maxWhole is the largest body that is kept until the handler is done, in bytes: it goes out
// with its head in one piece. Larger ones are sent as they come.
const maxWhole = 256 << 10

// reply is a response.
type reply struct {
	header http.Header
	status int
	body   []byte
	out    []byte
	close  bool

	// send writes to the connection.
	send     func([]byte) error
	headOnly bool
	last     bool // the connection closes after it
	sending  bool // its head was sent
	chunked  bool
	left     int64 // of the body to come, where its length was told and the head was sent
	failed   error // why the client has not got what was written
}

func (r *reply) begin() {
	clear(r.header)
	r.status, r.body, r.close, r.sending, r.chunked, r.left, r.failed = 0, r.body[:0], false, false, false, 0, nil
}

// Header returns the reply's header map.
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
	if r.headOnly && len(r.body)+len(b) > maxWhole {
		return len(b), nil // whose length is not told
	}
	if !r.sending && len(r.body)+len(b) <= maxWhole {
		r.body = append(r.body, b...)
		return len(b), nil
	}
	if !r.sending {
		length, known := r.header["Content-Length"]
		if r.chunked = !known; known {
			r.left, r.failed = wholeNumber(length[0])
		}
		err := r.put(r.head()) // which sets the time limit
		if r.sending = true; err != nil {
			return 0, err
		}
		if err := r.part(r.body); err != nil {
			return 0, err
		}
		r.body = r.body[:0]
	}
	if err := r.part(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// part sends a part of the body.
func (r *reply) part(b []byte) error {
	switch {
	case len(b) == 0:
		return nil
	case !r.chunked && r.failed == nil && int64(len(b)) > r.left:
		r.failed = http.ErrContentLength
		return r.failed
	case !r.chunked:
		r.left -= int64(len(b))
		return r.put(b)
	}
	r.out = append(strconv.AppendInt(r.out[:0], int64(len(b)), 16), "\r\n"...)
	if err := r.put(r.out); err != nil {
		return err
	}
	if err := r.put(b); err != nil {
		return err
	}
	return r.put(lineEnd)
}

// put writes to the connection, unless that has failed before.
func (r *reply) put(b []byte) error {
	if r.failed == nil {
		r.failed = r.send(b)
	}
	return r.failed
}

// errShort says that a reply ended before the length that its head has told.
var errShort = errors.New("fastpath: the reply is shorter than its length")

// broken returns the reason why no other reply may follow on the connection: the client would take it for the rest of this one.
func (r *reply) broken() error {
	if r.failed == nil && r.sending && r.left > 0 {
		return errShort
	}
	return r.failed
}

func wholeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("fastpath: the length of a reply: %w", err)
	}
	return n, nil
}

var (
	lineEnd   = []byte("\r\n")
	lastChunk = []byte("0\r\n\r\n")
)

// finish makes the bytes that are still to be sent.
func (r *reply) finish() []byte {
	r.WriteHeader(http.StatusOK)
	switch {
	case r.sending && r.chunked:
		return lastChunk
	case r.sending:
		return nil
	}
	if told, known := r.header["Content-Length"]; known && !r.headOnly && told[0] != strconv.Itoa(len(r.body)) {
		r.close = true // the client would take the next reply for the rest of this one, or the rest for the next
	}
	b := r.head()
	if !r.headOnly {
		b = append(b, r.body...)
	}
	r.out = b
	return b
}

// head makes the head of the reply.
func (r *reply) head() []byte {
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
	if r.last && !r.close {
		b = append(b, "Connection: close\r\n"...)
	}
	switch {
	case r.chunked:
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	case !length:
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, int64(len(r.body)), 10), "\r\n"...)
	}
	b = append(b, "\r\n"...)
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

// dated is a Date header and its second.
type dated struct {
	second int64
	text   string
}

var lastDate atomic.Pointer[dated]

// date returns the Date header now, made once a second.
func date() string {
	now := time.Now()
	if d := lastDate.Load(); d != nil && d.second == now.Unix() {
		return d.text
	}
	d := &dated{now.Unix(), now.UTC().Format(http.TimeFormat)}
	lastDate.Store(d)
	return d.text
}
