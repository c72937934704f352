package peer

import (
	"bufio"
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
