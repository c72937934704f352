package resp

import "errors"

// errCrowded ends a connection without a user whose input exceeds Limits.StrangerBytes, which all such connections share. A
// login fits the first buffer, which is not counted.
var errCrowded = errors.New("ERR too many clients that have not logged in send long commands: try again, with an AUTH below 4 KiB")

// hold charges the connection's input to its database or, without a user, to Limits.StrangerBytes. It returns errCrowded if the
// latter is exhausted. Only the connection's own goroutine may call it.
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

// release returns the bytes that hold has charged.
func (c *conn) release() {
	if c.held > 0 {
		c.s.strangers.Add(-c.held)
		c.held = 0
	}
}
