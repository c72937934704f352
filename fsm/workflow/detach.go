package workflow

import (
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// What an operation brings aliases the log's bytes, which must not stay in memory for the sake of one field. What is
// kept is detached from them by way of its codec.

func detached[T any, P interface {
	*T
	wire.Record
}](v *T) *T {
	out := new(T)
	wire.Copy(P(out), P(v))
	return out
}

// detachedAttempt is a failed attempt with no more of its body than is kept.
func detachedAttempt(p *queue.Response, text string, at int64) Attempt {
	short := *p
	short.Body = short.Body[:min(len(short.Body), maxErrorBody)]
	return *detached(&Attempt{Response: short, Error: text, At: at})
}

// optionsSize is the logical memory of options in bytes.
func optionsSize(o *queue.Options) int64 {
	if o == nil {
		return 0
	}
	return int64(len(wire.Marshal(o)))
}
