package pubsub

import (
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/env"
)

// Call is a command that a script has called, and the row of its request.
type Call struct {
	Row  int
	Argv [][]byte
}

// CallOf returns the call that a notification reports.
func CallOf(n *env.Notification) Call { return Call{int(n.Serial), n.Words()} }

// request names a request of the log.
type request struct {
	index uint64
	place int
}

// scriptCalls keeps what the scripts of requests have called until the server that sent a request shows it to monitors after the
// script's own line. What this node did not send is forgotten when newer calls come.
type scriptCalls struct {
	mu    sync.Mutex
	by    map[request]*calls
	order []request
	bytes int
	more  chan struct{} // closes when something comes
}

// calls holds the commands that the scripts of one request called.
type calls struct {
	list  []Call
	ended int // scripts
	bytes int
}

const (
	// maxCallBytes bounds the calls that are kept, in bytes, and maxCallRequests their requests.
	maxCallBytes    = 16 << 20
	maxCallRequests = 10_000
	// callsTimeout bounds the wait of Called until the node has applied the request.
	callsTimeout = 5 * time.Second
)

// add keeps a call, or the end of a script.
func (sc *scriptCalls) add(n *env.Notification) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.by == nil {
		sc.by = map[request]*calls{}
	}
	at := request{n.Index, n.Place}
	c := sc.by[at]
	if c == nil {
		c = &calls{}
		sc.by[at] = c
		sc.order = append(sc.order, at)
	}
	if n.Kind == env.ScriptEnded {
		c.ended++
	} else {
		c.list = append(c.list, CallOf(n))
	}
	size := len(n.Message) + eventCost
	c.bytes += size
	sc.bytes += size
	for len(sc.order) > 0 && (sc.bytes > maxCallBytes || len(sc.order) > maxCallRequests) {
		sc.drop(sc.order[0])
		sc.order = sc.order[1:]
	}
	if sc.more != nil {
		close(sc.more)
		sc.more = nil
	}
}

// drop forgets the calls of a request; the lock is held.
func (sc *scriptCalls) drop(at request) {
	if c := sc.by[at]; c != nil {
		sc.bytes -= c.bytes
		delete(sc.by, at)
	}
}

// take removes and returns the calls of a request if so many of its scripts have ended. Otherwise
// the channel closes when there is more.
func (sc *scriptCalls) take(at request, scripts int) (list []Call, more <-chan struct{}) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if c := sc.by[at]; c != nil && c.ended >= scripts {
		sc.drop(at)
		return c.list, nil
	}
	if sc.more == nil {
		sc.more = make(chan struct{})
	}
	return nil, sc.more
}

// Called returns what the scripts of a request, which was answered, have called on this node. It waits for the node to apply the
// request, but not for long: a snapshot may have taken its place.
func (h *Hub) Called(index uint64, place, scripts int) []Call {
	late := time.NewTimer(callsTimeout)
	defer late.Stop()
	for {
		list, more := h.calls.take(request{index, place}, scripts)
		if more == nil {
			return list
		}
		select {
		case <-more:
		case <-late.C:
			return nil
		case <-h.done:
			return nil
		}
	}
}
