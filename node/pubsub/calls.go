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

// CallOf is the call that a notification tells of.
func CallOf(n *env.Notification) Call { return Call{int(n.Serial), n.Words()} }

// request names a request of the log.
type request struct {
	index uint64
	place int
}

// scriptCalls keeps what the scripts of requests have called until the server that sent a request
// shows it to monitors after the script's own line. What this node did not send is forgotten
// when newer calls come.
type scriptCalls struct {
	mu    sync.Mutex
	by    map[request]*calls
	order []request
	bytes int
	more  chan struct{} // closes when something comes
}

// calls are those of one request.
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
func (s *scriptCalls) add(n *env.Notification) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[request]*calls{}
	}
	at := request{n.Index, n.Place}
	c := s.by[at]
	if c == nil {
		c = &calls{}
		s.by[at] = c
		s.order = append(s.order, at)
	}
	if n.Kind == env.ScriptEnded {
		c.ended++
	} else {
		c.list = append(c.list, CallOf(n))
	}
	size := len(n.Message) + eventCost
	c.bytes += size
	s.bytes += size
	for len(s.order) > 0 && (s.bytes > maxCallBytes || len(s.order) > maxCallRequests) {
		s.drop(s.order[0])
		s.order = s.order[1:]
	}
	if s.more != nil {
		close(s.more)
		s.more = nil
	}
}

// drop forgets the calls of a request; the lock is held.
func (s *scriptCalls) drop(at request) {
	if c := s.by[at]; c != nil {
		s.bytes -= c.bytes
		delete(s.by, at)
	}
}

// take removes and returns the calls of a request if so many of its scripts have ended. Otherwise
// the channel closes when there is more.
func (s *scriptCalls) take(at request, scripts int) (list []Call, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.by[at]; c != nil && c.ended >= scripts {
		s.drop(at)
		return c.list, nil
	}
	if s.more == nil {
		s.more = make(chan struct{})
	}
	return nil, s.more
}

// Called returns what the scripts of a request, which was answered, have called on this node. It
// waits for the node to apply the request, but not for long: a snapshot may have taken its
// place.
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
