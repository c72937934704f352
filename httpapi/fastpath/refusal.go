package fastpath

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/internal/httpsyntax"
)

// connKey is the key of a connection in the contexts of net/http's requests.
type connKey struct{}

// watchHandler makes a server note on its connections when a handler answers: everything that it writes at other times
// is a refusal of its own.
func watchHandler(s *http.Server) {
	handler, withConn, noteState := s.Handler, s.ConnContext, s.ConnState
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*bufferedConn); ok {
			c.handled.Store(true)
		}
		handler.ServeHTTP(w, r)
	})
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if withConn != nil {
			ctx = withConn(ctx, c)
		}
		return context.WithValue(ctx, connKey{}, c)
	}
	s.ConnState = func(nc net.Conn, state http.ConnState) {
		if c, ok := nc.(*bufferedConn); ok && state == http.StateIdle { // its reply has been sent whole
			c.first = nil
			c.handled.Store(false)
		}
		if noteState != nil {
			noteState(nc, state)
		}
	}
}

// The bounds of waiting for a refused client to close.
const (
	refusalTime  = time.Second
	refusalBytes = 64 << 10
)

// sendRefusal replaces a reply that net/http gives by itself.
func (bc *bufferedConn) sendRefusal(b []byte) (int, error) {
	const version = "HTTP/1.1 "
	line, rest, _ := bytes.Cut(b, lineEnd)
	code, text, _ := strings.Cut(strings.TrimPrefix(string(line), version), " ")
	status, err := strconv.Atoi(code)
	if err != nil || status < http.StatusBadRequest || !bytes.HasPrefix(line, []byte(version)) {
		return bc.Conn.Write(b)
	}
	if _, err := bc.Conn.Write(bc.refuse(status, bc.explain(status, text))); err != nil {
		return 0, err
	}
	bc.refuse = nil
	// Bytes that are still on their way would make the close a reset, which can destroy the reply.
	if len(rest) > 0 && bc.CloseWrite() == nil && bc.Conn.SetReadDeadline(time.Now().Add(refusalTime)) == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(bc.Conn, refusalBytes))
	}
	return len(b), nil
}

// explain says why net/http refuses a request; text follows the status in its reply.
func (bc *bufferedConn) explain(status int, text string) string {
	switch status {
	case http.StatusNotImplemented:
		return "this transfer coding is not supported: send chunked, or a Content-Length"
	case http.StatusHTTPVersionNotSupported:
		return "this version of HTTP is not supported: send HTTP/1.1"
	case http.StatusExpectationFailed:
		return "the only expectation that is supported is 100-continue"
	}
	if why := explain(bc.first); why != "" {
		return "malformed request: " + why
	}
	if _, why, ok := strings.Cut(text, ": "); ok {
		return "malformed request: " + why
	}
	return "malformed request"
}

// explain says what is wrong with the head of a request; empty if that is not found.
func explain(head []byte) string {
	line, rest, whole := cutLine(head)
	if !whole {
		return ""
	}
	if why := explainLine(line); why != "" {
		return why
	}
	length, host := "", ""
	for {
		if line, rest, whole = cutLine(rest); !whole || line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		switch {
		case !ok:
			return "a header line has no colon: " + quoted(line)
		case !httpsyntax.IsToken(name):
			return "a header name has a character that is not allowed: " + quoted(name)
		case !httpsyntax.IsValue(value):
			return "the value of header " + quoted(name) + " has a control byte"
		case strings.EqualFold(name, "Content-Length"):
			if _, ok := number([]byte(value)); !ok {
				return "Content-Length must be a number of bytes, got " + quoted(value)
			}
			if length != "" && length != value {
				return "Content-Length must appear once, got " + quoted(length) + " and " + quoted(value)
			}
			length = value
		case strings.EqualFold(name, "Host"):
			if host != "" {
				return "Host must appear once, got " + quoted(host) + " and " + quoted(value)
			}
			host = value
		}
	}
	return ""
}

// explainLine says what is wrong with a request line.
func explainLine(line string) string {
	method, rest, ok := strings.Cut(line, " ")
	end := strings.LastIndexByte(rest, ' ')
	if !ok || end < 0 || !httpsyntax.IsToken(method) || !strings.HasPrefix(rest[end+1:], "HTTP/") {
		return "its first line must be METHOD PATH HTTP/1.1, got " + quoted(line)
	}
	target := rest[:end]
	path, _, _ := strings.Cut(target, "?")
	for i := range len(target) {
		switch c := target[i]; {
		case c <= ' ' || c == 0x7f:
			return "byte " + strconv.Itoa(i+1) + " of the path is " + quoted(target[i:i+1]) + ", write it as %" + hexByte(c)
		case c == '%' && i < len(path) && (i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2])):
			return "byte " + strconv.Itoa(i+1) + " of the path is % without two hexadecimal digits after it, write a percent sign as %25"
		}
	}
	return ""
}

func hexByte(c byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{digits[c>>4], digits[c&15]})
}

// maxQuoted bounds the bytes of a client's text that an error quotes.
const maxQuoted = 64

func quoted(s string) string {
	if len(s) > maxQuoted {
		s = s[:maxQuoted] + "..."
	}
	return strconv.QuoteToASCII(s)
}

// cutLine cuts the first line off. ok is false if the line has no end.
func cutLine(b []byte) (line string, rest []byte, ok bool) {
	l, rest, ok := bytes.Cut(b, []byte{'\n'})
	return string(bytes.TrimSuffix(l, []byte{'\r'})), rest, ok
}

// plainRefusal is net/http's answer to plain HTTP where TLS is expected.
const plainRefusal = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nClient sent an HTTP request to an HTTPS server: use https://\n"

// refusePlain answers a client without TLS, if err says that it is one and what it has sent looks like a request.
func refusePlain(err error) {
	var record tls.RecordHeaderError
	if !errors.As(err, &record) || record.Conn == nil || record.RecordHeader[0] < 'A' || record.RecordHeader[0] > 'Z' {
		return
	}
	_ = record.Conn.SetWriteDeadline(time.Now().Add(refusalTime))
	_, _ = io.WriteString(record.Conn, plainRefusal) // best effort: it may not read
}
