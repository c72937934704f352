package resp

import "errors"

// errCrowded ends a connection without a user for whose input there is no memory left: however many such connections
// there are, they take no more than Limits.StrangerBytes. A login fits the first buffer, which needs no share.
var errCrowded = errors.New("ERR too many clients that have not logged in send long commands: try again, with an AUTH below 4 KiB")

// hold counts the connection's input: with a user for its database, and as long as it has none for all such connections. The
// error is errCrowded if there is no more for those. Only the connection's own goroutine calls it.
func (c *conn) hold() error {
	size := cap(c.in.buf) - idleBuffer
	if c.as.Known() {
		c.release()
		return c.holdInput()
	}
	if size <= 0 {
		c.release()
		return nil
	}
	used := c.s.strangers.Add(int64(size) - c.held)
	c.held = int64(size)
	if used > int64(c.s.limits.StrangerBytes) {
		return errCrowded
	}
	return nil
}

// release gives back what hold has counted.
func (c *conn) release() {
	if c.held > 0 {
		c.s.strangers.Add(-c.held)
		c.held = 0
	}
}
