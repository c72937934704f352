package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"
)

// Caller is one keep-alive connection that is used by hand, for measurements
// whose next request depends on the last reply. Not safe for concurrent use.
type Caller struct {
	conn    net.Conn
	replies replyReader
	host    string
	bearer  string
	request []byte
}

// Dial connects to the server of base, a URL without a path.
func Dial(base, bearer string) (*Caller, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	conn, err := net.DialTimeout("tcp", u.Host, 2*time.Second)
	if err != nil {
		return nil, err
	}
	return &Caller{conn: conn, replies: replyReader{r: bufio.NewReader(conn)}, host: u.Host, bearer: bearer}, nil
}

// Close ends the connection.
func (c *Caller) Close() error { return c.conn.Close() }

// Post sends body to the root path and returns the reply's status and body,
// which is valid until the next call, and the time from the first byte sent to
// the last byte read. After an error the connection must be closed.
func (c *Caller) Post(body string, limit time.Duration) (int, []byte, time.Duration, error) {
	b := append(c.request[:0], "POST / HTTP/1.1\r\nHost: "...)
	b = append(append(b, c.host...), "\r\nAuthorization: Bearer "...)
	b = append(append(b, c.bearer...), "\r\nContent-Type: application/json\r\nContent-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(body)), 10), "\r\n\r\n"...)
	c.request = append(b, body...)
	begin := time.Now()
	if err := c.conn.SetDeadline(begin.Add(limit)); err != nil {
		return 0, nil, 0, err
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return 0, nil, 0, err
	}
	status, reply, err := c.replies.next()
	return status, reply, time.Since(begin), err
}

// Unexpected is a complete reply that is not the wanted one; the connection
// stays usable.
type Unexpected struct {
	Request string
	Status  int
	Reply   string // its first 200 bytes
}

// Error shows request and reply.
func (u *Unexpected) Error() string {
	return fmt.Sprintf("%s: status %d: %s", u.Request, u.Status, u.Reply)
}

// Want is Post for a body whose good reply is status 200 and exactly reply, but
// for white space around it. Any other reply is an *Unexpected.
func (c *Caller) Want(body, reply string, limit time.Duration) (time.Duration, error) {
	status, got, took, err := c.Post(body, limit)
	if err != nil && !errors.Is(err, errCloses) {
		return 0, err
	}
	if status != 200 || string(bytes.TrimSpace(got)) != reply {
		return 0, &Unexpected{Request: body, Status: status, Reply: fmt.Sprintf("%.200s", got)}
	}
	return took, err
}
