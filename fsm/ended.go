package fsm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// EndedSession is a session of the console that was signed out: every node refuses its
// cookie until a time at which no cookie of it could be good any more.
type EndedSession struct {
	ID string
	// Until is unix milliseconds.
	Until int64
}

const (
	maxSessionID     = 64
	maxEndedSessions = 100_000
	// maxSessionTime is the longest that a session may be remembered, in milliseconds.
	maxSessionTime = 48 * 60 * 60 * 1000
)

// What an ended session can be refused for.
var (
	ErrSessionID     = &Error{Code: "session-id", Text: "a session's id has 1 to 64 bytes"}
	ErrEndedSessions = &Error{Code: "ended-sessions", Text: "100000 sessions were ended and are remembered still: wait until the first of them expire"}
)

// Fields are the session's, in the order of the log.
func (es *EndedSession) Fields(c *wire.Codec) {
	c.String(&es.ID)
	c.Varint(&es.Until)
}

// endedSessions are in the order of their ids. The list is replaced with every change:
// forks share it.
type endedSessions []EndedSession

func (es endedSessions) place(id string) (int, bool) {
	return slices.BinarySearchFunc(es, id, func(n EndedSession, id string) int { return strings.Compare(n.ID, id) })
}

// endSession remembers an ended session and forgets those whose time is over.
func (s *State) endSession(e *env.Env, n EndedSession) (Ack, error) {
	if n.ID == "" || len(n.ID) > maxSessionID {
		return Ack{}, ErrSessionID
	}
	next := make(endedSessions, 0, len(s.ended)+1)
	for _, one := range s.ended {
		if one.Until > e.Now {
			next = append(next, one)
		}
	}
	n.Until = min(n.Until, e.Now+maxSessionTime)
	i, found := next.place(n.ID)
	switch {
	case found || n.Until <= e.Now:
	case len(next) >= maxEndedSessions:
		return Ack{}, ErrEndedSessions
	default:
		next = slices.Insert(next, i, n)
	}
	s.ended = next
	return Ack{}, nil
}

// SessionEnded reports whether a session of the console was signed out.
func (v *View) SessionEnded(id string) bool {
	_, found := v.s.ended.place(id)
	return found
}

// endedSession takes in a record of sectionEnded.
func (l *loading) endedSession(r *wire.Reader) error {
	var n EndedSession
	r.Get(&n)
	if last := len(l.s.ended); last > 0 && l.s.ended[last-1].ID >= n.ID {
		return fmt.Errorf("%w: session %.70q", errOrder, n.ID)
	}
	l.s.ended = append(l.s.ended, n)
	return r.Done()
}
