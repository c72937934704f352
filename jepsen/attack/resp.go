package attack

import (
	"bufio"
	"fmt"
	"net"
	"time"
)

// respConn is a connection to a RESP port.
type respConn struct {
	net.Conn
	r *bufio.Reader
}

func (t *Target) dialRESP(node int) (*respConn, error) { return dialRESP(t.Nodes[node].RESP) }

func dialRESP(addr string) (*respConn, error) {
	c, err := net.DialTimeout("tcp", addr, silence)
	if err != nil {
		return nil, err
	}
	return &respConn{c, bufio.NewReader(c)}, c.SetDeadline(time.Now().Add(time.Minute))
}

// respCommand is a command as clients send it.
func respCommand(args ...string) (b []byte) {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, arg := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b
}

// first sends a command and returns the first line of its reply.
func (c *respConn) first(args ...string) (string, error) {
	if _, err := c.Write(respCommand(args...)); err != nil {
		return "", err
	}
	line, err := c.r.ReadString('\n')
	return line, err
}

// once sends commands on a connection of its own and returns the first line that the last one is answered by. All
// replies but the last have to be of one line.
func (t *Target) once(node int, commands ...[]string) (line string, err error) {
	c, err := t.dialRESP(node)
	if err != nil {
		return "", err
	}
	defer c.Close()
	for _, args := range commands {
		if line, err = c.first(args...); err != nil {
			return line, err
		}
	}
	return line, nil
}
