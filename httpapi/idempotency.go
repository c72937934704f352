package httpapi

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/dedup"
)

// setIdempotencyKey gives a write the client's own id, if it has one: then it is applied at most once. Reads have no
// use for it.
func (c *call) setIdempotencyKey(b *fsm.Batch) *failure {
	for _, name := range c.s.names.retry {
		list, given := c.r.Header[name]
		if !given {
			continue
		}
		id := list[0]
		if len(list) > 1 {
			return badRequest("ERR " + name + " must appear exactly once, got it " + strconv.Itoa(len(list)) + " times")
		}
		if len(id) == 0 || len(id) > dedup.MaxID {
			return badRequest("ERR " + name + " must be 1 to " + strconv.Itoa(dedup.MaxID) + " bytes long, got " + strconv.Itoa(len(id)))
		}
		b.Retry = b.IdempotencyKey(id)
		return nil
	}
	return nil
}
