package flow

import (
	"trireme/fsm/queue"
	"trireme/fsm/wire"
)

// What an operation brings aliases the log's bytes, which must not stay in memory for the sake of one field. What is
// kept is detached from them by way of its codec.

func detached[T any](v T, encode func(T, *wire.Writer), decode func(*wire.Reader) T) T {
	var w wire.Writer
	encode(v, &w)
	return decode(wire.NewReader(append(make([]byte, 0, len(w.B)), w.B...)))
}

func (c *Config) detached() *Config { return detached(c, (*Config).encode, decodeConfig) }

func (n *Waiter) detached() *Waiter { return detached(n, (*Waiter).encode, decodeWaiter) }

func (f *Fault) detached() *Fault { return detached(f, (*Fault).encode, decodeFault) }

func (a *Answer) detached() *Answer { return detached(a, (*Answer).encode, decodeAnswer) }

func detachedOptions(o *queue.Options) *queue.Options {
	return detached(o, (*queue.Options).Encode, func(r *wire.Reader) *queue.Options {
		out := &queue.Options{}
		out.Decode(r)
		return out
	})
}

// detachedAttempt is a failed attempt with no more of its body than is kept.
func detachedAttempt(p *queue.Response, text string, at int64) Attempt {
	short := *p
	short.Body = short.Body[:min(len(short.Body), maxErrorBody)]
	list := detached([]Attempt{{short, text, at}}, func(l []Attempt, w *wire.Writer) { encodeAttempts(w, l) }, decodeAttempts)
	return list[0]
}

// optionsSize is the logical memory of options in bytes.
func optionsSize(o *queue.Options) int64 {
	if o == nil {
		return 0
	}
	var w wire.Writer
	o.Encode(&w)
	return int64(len(w.B))
}
