package queue

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// RunNow is the argument of the operation of that name: a message that waits for the time of its next attempt is due at
// once.
type RunNow struct{ ID ID }

// Fields codes the value in its wire format.
func (n *RunNow) Fields(c *wire.Codec) { n.ID.Fields(c) }

// RunNow ends the wait of a message for its delay or for its next attempt. The attempt is moved forward, none is added;
// flow control and the share of its host decide as always. A message that is held by these is left where it is: its time
// has come already.
//
// The errors are ErrNotFound for a message that does not wait (unknown, under way, done, or to be cancelled) and
// ErrInvalid for one that waits in a queue, whose order counts more.
func (s *Store) RunNow(e *env.Env, n RunNow) error {
	old := s.whole(n.ID)
	switch {
	case old == nil || old.stopping || old.place == placeDone || old.place == placeActive:
		return notFound("message %s not found or not waiting", n.ID)
	case old.queue != 0 && (old.calls&isSingleton == 0 || old.place == placeBacklog):
		return invalid("message %s is in a queue: messages of a queue are delivered in their order and can't be run now", n.ID)
	case old.place != placeDue || old.at <= e.Now:
		return nil
	}
	m := copyOf(old)
	s.places.remove(m)
	at := e.Now
	if c := m.envelope(); c.Given&GivenNotBefore != 0 && m.attempts == 0 {
		at = min(at, c.NotBefore-1) // which says that it is not held back
	}
	s.enter(m, placeDue, at, e.Now)
	s.store(m)
	return nil
}
