package resp

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/buffered"
)

// The memory that a connection with a user holds counts against the budgets of the node and of its database, as HTTP bodies do:
// the part of an arriving command that exceeds a busy connection's buffer, the command's words, queued transactions, watched
// keys, and the words of a blocked call.

// The memory overhead of a word, in bytes: its slice, and for a blocked call also its places in queues.
const (
	wordMemory    = 32
	blockedMemory = 512
)

// heldBytes returns the bytes that the connection holds, including the buffer that its next read will need.
func (c *conn) heldBytes() int64 {
	return int64(max(0, c.in.next(c.parser.Need())-busyBuffer)+c.parser.Held()) + c.tx.memory + c.tx.watchMemory + c.wait.bytes
}

// charge charges the connection for the bytes that it holds and more bytes. If they exceed a budget it returns a
// *buffered.Excess, and the previous charge stays.
func (c *conn) charge(more int64) error {
	return c.holding.Set(c.s.buffers, c.as.DB, c.heldBytes()+more)
}

// outOfMemory returns the reply to a command that would exceed a memory budget.
func outOfMemory(err error) reply.Value { return reply.Error("OOM " + err.Error()) }

// admit charges the connection for more bytes and reports whether they fit. If they do not, it answers the command.
func (c *conn) admit(more int64) bool {
	err := c.charge(more)
	if err != nil {
		c.emit(outOfMemory(err))
	}
	return err == nil
}

// outOfMemoryError ends a connection whose arriving command exceeds a memory budget: the rest of the command can't be skipped.
type outOfMemoryError struct{ *buffered.Excess }

func (e outOfMemoryError) Error() string { return "OOM " + e.Excess.Error() }

// chargeCommand charges the connection for the command that is arriving.
func (c *conn) chargeCommand() error {
	err := c.charge(0)
	var excess *buffered.Excess
	if errors.As(err, &excess) {
		return outOfMemoryError{excess}
	}
	return err
}

// memoryOf returns the memory that argv takes, in bytes, with overhead bytes for each word.
func memoryOf(argv [][]byte, overhead int) int64 { return int64(lengthOf(argv) + len(argv)*overhead) }

// errUnauthenticatedMemory ends a connection without a user whose input exceeds Limits.UnauthenticatedBytes, which all such
// connections share. A login fits the first buffer, which is not counted.
var errUnauthenticatedMemory = errors.New("ERR too many clients that have not logged in send long commands: try again, with an AUTH below 4 KiB")

// chargeInput charges the connection's input to its database or, without a user, to Limits.UnauthenticatedBytes. It returns
// errUnauthenticatedMemory if the latter is exhausted. Only the connection's own goroutine may call it.
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
