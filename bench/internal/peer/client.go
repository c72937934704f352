package peer

import (
	"errors"
	"strconv"
)

// Client is a connection to a server by the Redis protocol.
type Client struct{ c *respConn }

// Connect connects to the node's RESP listener.
func (n *Node) Connect() (*Client, error) {
	c, err := dialRESP(n.RESP)
	if err != nil {
		return nil, err
	}
	if _, err := c.do("AUTH", token); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &Client{c}, nil
}

// Connect connects to the server.
func (r *Redis) Connect() (*Client, error) {
	c, err := dialRESP(r.Addr)
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.c.Close() }

// Run sends one command and reads its reply, whatever its kind and size; one that is an error is returned.
func (c *Client) Run(args ...string) error {
	if err := c.c.send(appendCommand(nil, args...)); err != nil {
		return err
	}
	return c.c.discard()
}

// RunAll sends commands together and reads their replies. It returns the first that is an error.
func (c *Client) RunAll(commands [][]string) error {
	var b []byte
	for _, args := range commands {
		b = appendCommand(b, args...)
	}
	if err := c.c.send(b); err != nil {
		return err
	}
	var failed error
	for range commands {
		if err := c.c.discard(); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

// Number sends a command that is answered by an integer.
func (c *Client) Number(args ...string) (int, error) {
	text, err := c.c.do(args...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
