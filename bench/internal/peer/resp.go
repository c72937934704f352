package peer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// respConn is the little of the Redis protocol that preparing a peer needs.
type respConn struct {
	conn net.Conn
	r    *bufio.Reader
}

// dialRESP connects to a redis-server.
func dialRESP(addr string) (*respConn, error) {
	c, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		return nil, err
	}
	return &respConn{conn: c, r: bufio.NewReaderSize(c, 64<<10)}, nil
}

// Close ends the connection.
func (c *respConn) Close() error { return c.conn.Close() }

// appendCommand encodes args as an array of bulk strings.
func appendCommand(b []byte, args ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// do sends one command and returns its simple, integer or bulk reply as text.
func (c *respConn) do(args ...string) (string, error) {
	if err := c.send(appendCommand(nil, args...)); err != nil {
		return "", err
	}
	return c.read()
}

// send writes encoded commands, with a limit for them and their replies.
func (c *respConn) send(b []byte) error {
	if err := c.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return err
	}
	_, err := c.conn.Write(b)
	return err
}

// read reads one reply that is not an array.
func (c *respConn) read() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("empty reply")
	}
	switch line[0] {
	case '+', ':':
		return line[1:], nil
	case '-':
		return "", errors.New(line[1:])
	case '$':
		return c.bulk(line[1:])
	}
	return "", fmt.Errorf("reply not understood: %q", line)
}

// bulk reads the rest of a bulk string; a null one is empty.
func (c *respConn) bulk(length string) (string, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n > 512<<20 {
		return "", fmt.Errorf("bulk length %q", length)
	}
	if n < 0 {
		return "", nil
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(c.r, b); err != nil {
		return "", err
	}
	return string(b[:n]), nil
}

// discard reads one reply of any kind, to its end, and returns the first error in it.
func (c *respConn) discard() (failed error) {
	for left := 1; left > 0; left-- {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return errors.New("empty reply")
		}
		if line[0] == '-' && failed == nil {
			failed = errors.New(string(line[1:]))
		}
		below, length, err := behind(line)
		if err != nil {
			return err
		}
		left += below
		if _, err := c.r.Discard(length); err != nil {
			return err
		}
	}
	return failed
}

// behind returns how many replies, or how many bytes, follow the first line of a reply.
func behind(line []byte) (replies, length int, err error) {
	switch line[0] {
	case '*', '~', '>', '%', '$', '=':
	default:
		return 0, 0, nil
	}
	n, err := strconv.Atoi(string(line[1:]))
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("reply not understood: %q", line)
	case n < 0: // null
		return 0, 0, nil
	case line[0] == '$' || line[0] == '=':
		return 0, n + len("\r\n"), nil
	case line[0] == '%':
		return 2 * n, 0, nil
	}
	return n, 0, nil
}
