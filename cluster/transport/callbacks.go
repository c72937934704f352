package transport

import (
	"net"
	"time"
)

// Callbacks connects a Mux with the node that it belongs to. All methods may be called by any goroutine, at any time
// from Mux.Start until Mux.Wait has returned.
type Callbacks interface {
	// Hello returns this node's introduction, which begins every connection.
	Hello() Hello
	// Expected returns the id of the node that has an address by raft's configuration, empty if it isn't known.
	Expected(addr string) string
	// Admit judges a caller by its Hello. An error that is ErrRejected is sent to the caller.
	Admit(from Hello, what Purpose) error
	// Verify judges the process at an address before raft connects to it.
	Verify(addr string, timeout time.Duration) error
	// Handle answers a call by calling answer once, now or later. It must not block: what takes time runs elsewhere.
	// raft's appends are the exception: they have a connection of their own, and reach raft one by one.
	Handle(from Hello, kind Kind, payload []byte, answer func([]byte, error))
	// Excluded is called when the node at the other end rejects this one for good: why is ErrRemoved, ErrRolledBack
	// or ErrCopied.
	Excluded(why error)
	// Rejected is called with the reason why a connection was not accepted.
	Rejected(from net.Addr, why error)
}
