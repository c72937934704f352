package httpapi

import (
	"strconv"

	"trireme/fsm"
	"trireme/fsm/dedup"
)

// name gives a write the client's own id, if it has one: then it is applied at most
// once. Reads have no use for it.
func (c *call) name(b *fsm.Batch) *failure {
	for _, name := range c.s.names.retry {
		list, given := c.r.Header[name]
		if !given {
			continue
		}
		id := list[0]
		if len(list) > 1 || len(id) == 0 || len(id) > dedup.MaxID {
			return badRequest("ERR " + name + " must stand there once and have 1 to " + strconv.Itoa(dedup.MaxID) +
				" bytes. Actual: " + strconv.Itoa(len(id)))
		}
		b.Retry = b.Named(id)
		return nil
	}
	return nil
}
