package resp

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/buffered"
)

// What a connection with a user has under way counts against the memory of the node and of its database, as bodies over HTTP do:
// the command that is arriving beyond a busy connection's buffer, its words, queued transactions, watched keys, and the words
// of a call that is blocked.

// What words take in memory beside their bytes: their slices, and for a call that is blocked its places in queues.
const (
	wordMemory    = 32
	blockedMemory = 512
)

// underWay is what the connection holds, as the next read will need it.
func (c *conn) underWay() int64 {
	return int64(max(0, c.in.next(c.parser.Need())-busyBuffer)+c.parser.Held()) + c.tx.memory + c.tx.watchMemory
}

// account counts what the connection holds and so many bytes more. The error says that there is no room: what was held stays
// counted.
func (c *conn) account(more int64) error {
	return c.holding.Set(c.s.buffers, c.as.DB, c.underWay()+more)
}

// noRoom is the answer to a command for which there is none.
func noRoom(err error) reply.Value { return reply.Error("OOM " + err.Error()) }

// admit counts bytes that a command wants to hold, or answers it.
func (c *conn) admit(more int64) bool {
	err := c.account(more)
	if err != nil {
		c.emit(noRoom(err))
	}
	return err == nil
}

// errNoRoom ends a connection of whose command the rest can't be skipped.
type errNoRoom struct{ *buffered.Excess }

func (e errNoRoom) Error() string { return "OOM " + e.Excess.Error() }

// holdInput counts the command that is arriving.
func (c *conn) holdInput() error {
	err := c.account(0)
	var excess *buffered.Excess
	if errors.As(err, &excess) {
		return errNoRoom{excess}
	}
	return err
}

// memoryOf is what words take, each with so much beside its bytes.
func memoryOf(argv [][]byte, beside int) int64 { return int64(lengthOf(argv) + len(argv)*beside) }
