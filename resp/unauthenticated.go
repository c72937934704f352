package resp

import "errors"

// errUnauthenticatedMemory ends a connection without a user whose input exceeds Limits.UnauthenticatedBytes, which all such connections share. A
// login fits the first buffer, which is not counted.
var errUnauthenticatedMemory = errors.New("ERR too many clients that have not logged in send long commands: try again, with an AUTH below 4 KiB")

// chargeInput charges the connection's input to its database or, without a user, to Limits.UnauthenticatedBytes. It returns errUnauthenticatedMemory if the
// latter is exhausted. Only the connection's own goroutine may call it.
func (c *conn) chargeInput() error {
	size := cap(c.in.buf) - idleBuffer
	if c.as.Known() {
		c.releaseInput()
		return c.chargeCommand()
	}
	if size <= 0 {
		c.releaseInput()
		return nil
	}
	used := c.s.unauthenticatedBytes.Add(int64(size) - c.unauthenticatedBytes)
	c.unauthenticatedBytes = int64(size)
	if used > int64(c.s.limits.UnauthenticatedBytes) {
		return errUnauthenticatedMemory
	}
	return nil
}

// releaseInput returns the bytes that hold has charged.
func (c *conn) releaseInput() {
	if c.unauthenticatedBytes > 0 {
		c.s.unauthenticatedBytes.Add(-c.unauthenticatedBytes)
		c.unauthenticatedBytes = 0
	}
}
