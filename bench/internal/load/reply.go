package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// errCloses says that the server will close the connection after this reply.
var errCloses = errors.New("server closes the connection")

// maxReply bounds a reply's body: a server that announces more is broken.
const maxReply = 64 << 20

// replyReader reads HTTP/1.1 replies into one buffer that it uses again.
type replyReader struct {
	r    *bufio.Reader
	body []byte
}

// next reads one reply. The body is valid until the next call. errCloses comes
// with a complete reply.
func (r *replyReader) next() (status int, body []byte, err error) {
	status, err = r.statusLine()
	if err != nil {
		return 0, nil, err
	}
	head, err := r.headers()
	if err != nil {
		return 0, nil, err
	}
	r.body = r.body[:0]
	switch {
	case head.chunked:
		err = r.chunks()
	case head.length >= 0:
		err = r.take(head.length)
	case status != 204 && status != 304:
		err = errors.New("reply without a length")
	}
	if err != nil {
		return 0, nil, err
	}
	if head.closes {
		return status, r.body, errCloses
	}
	return status, r.body, nil
}

// statusLine reads "HTTP/1.1 200 ..." and returns the number.
func (r *replyReader) statusLine() (int, error) {
	line, err := r.r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return 0, fmt.Errorf("bad status line %q", line)
	}
	status, ok := decimal(line[9:12])
	if !ok {
		return 0, fmt.Errorf("bad status line %q", line)
	}
	return status, nil
}

// head holds the header fields of a reply that the generator needs.
type head struct {
	length  int // -1 when absent
	chunked bool
	closes  bool
}

// headers reads up to and with the empty line.
func (r *replyReader) headers() (head, error) {
	h := head{length: -1}
	for {
		line, err := r.r.ReadSlice('\n')
		if err != nil {
			return h, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return h, nil
		}
		if err := h.field(line); err != nil {
			return h, err
		}
	}
}

// field notes one header line. Names are told apart by length first: most
// lines are none of the product and must cost nothing.
func (h *head) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch len(name) {
	case len("Content-Length"):
		if bytes.EqualFold(name, []byte("Content-Length")) {
			n, ok := decimal(bytes.TrimSpace(value))
			if !ok || n > maxReply {
				return fmt.Errorf("bad length %q", line)
			}
			h.length = n
		}
	case len("Transfer-Encoding"):
		if bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			h.chunked = bytes.EqualFold(bytes.TrimSpace(value), []byte("chunked"))
		}
	case len("Connection"):
		if bytes.EqualFold(name, []byte("Connection")) {
			h.closes = bytes.EqualFold(bytes.TrimSpace(value), []byte("close"))
		}
	}
	return nil
}

// take appends n bytes to the body.
func (r *replyReader) take(n int) error {
	at := len(r.body)
	if at+n > maxReply {
		return fmt.Errorf("reply above %d bytes", maxReply)
	}
	if cap(r.body) < at+n {
		r.body = append(make([]byte, 0, 2*(at+n)), r.body...)
	}
	r.body = r.body[:at+n]
	_, err := io.ReadFull(r.r, r.body[at:])
	return err
}

// chunks reads a chunked body with its trailer.
func (r *replyReader) chunks() error {
	for {
		line, err := r.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(bytes.TrimSpace(line), []byte(";"))
		n, err := strconv.ParseUint(string(size), 16, 31)
		if err != nil {
			return fmt.Errorf("bad chunk size %q", line)
		}
		if n == 0 {
			_, err := r.headers()
			return err
		}
		if err := r.take(int(n)); err != nil {
			return err
		}
		if _, err := r.r.Discard(2); err != nil {
			return err
		}
	}
}

// decimal parses an unsigned number of at most nine digits without allocating.
func decimal(b []byte) (int, bool) {
	if len(b) == 0 || len(b) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
