package queue

import (
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// host counts the attempts under way to one host, so that a slow one can't take all senders. It is
// forgotten when there are none and no message is parked.
type host struct {
	no     uint64
	active int
}

// HostLimit is the most attempts that may be under way to a host, at least 1.
type HostLimit struct {
	// Host is that of Content.Host.
	Host string
	Most int
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (l *HostLimit) Fields(c *wire.Codec) {
	c.Text(&l.Host)
	wire.Uint(c, &l.Most)
	if c.Reading() && (l.Most < 0 || l.Most > math.MaxInt32) {
		l.Most = math.MaxInt32
	}
}

// addHostAttempt counts one more attempt to a host.
func (s *Store) addHostAttempt(name string) {
	h, ok := s.hosts.Get(name)
	if !ok {
		s.hosts.Set(strings.Clone(name), &host{no: s.next(), active: 1})
		return
	}
	s.hosts.Set(name, &host{no: h.no, active: h.active + 1})
}

// removeHostAttempt counts one attempt to a host less. It unparks a message of the host, and one of another host, which
// may have been parked because no sender was free.
func (s *Store) removeHostAttempt(name string, now int64) {
	h, ok := s.hosts.Get(name)
	if !ok {
		return
	}
	s.hosts.Set(name, &host{no: h.no, active: h.active - 1})
	s.unpark(name, now)
	if other, found := s.nextParked(h.no); found {
		s.unpark(other, now)
	}
}

// nextParked is the host, after the one of a number and not that one, of which messages are parked; the hosts take
// turns.
func (s *Store) nextParked(no uint64) (name string, ok bool) {
	var seq uint64
	look := func(m inLine, _ struct{}) bool {
		seq, ok = m.seq, m.of != no
		return false
	}
	if s.places.parked.AscendHead(no+1, look); !ok {
		s.places.parked.All(look)
	}
	if !ok {
		return "", false
	}
	m, _ := s.messages.Get(seq)
	return m.envelope().Host(), true
}

// park keeps m until an attempt to its host, which is saturated, has ended.
func (s *Store) park(m *Message, name string, now int64) {
	h, _ := s.hosts.Get(name)
	s.enter(m, placeParked, int64(h.no), now)
}

// unpark lets the oldest message parked for a host try again, if there is one, and forgets a host of which there is
// nothing to know.
func (s *Store) unpark(name string, now int64) (found bool) {
	h, ok := s.hosts.Get(name)
	if !ok {
		return false
	}
	first, found := s.head(s.places.parked, h.no, 0)
	if found {
		old, _ := s.messages.Get(first.seq)
		m := copyOf(old)
		s.places.remove(m)
		s.enter(m, placeDue, now, now)
		s.store(m)
	}
	if !waits(s.places.parked, h.no) && h.active <= 0 {
		s.hosts.Delete(name)
	}
	return found
}
