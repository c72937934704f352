package queue

import "strings"

// host counts the attempts under way to one host, so that a slow one can't take all senders (reliability D7). It is
// forgotten when there are none and nobody is parked.
type host struct {
	no     uint64
	active int
}

// saturated tells whether a host has as many attempts under way as share allows; 0 is no limit.
func (s *Store) saturated(name string, share int) bool {
	h, _ := s.hosts.Get(name)
	return share > 0 && h != nil && h.active >= share
}

// occupy counts one more attempt to a host.
func (s *Store) occupy(name string) {
	h, ok := s.hosts.Get(name)
	if !ok {
		s.hosts.Set(strings.Clone(name), &host{no: s.next(), active: 1})
		return
	}
	s.hosts.Set(name, &host{no: h.no, active: h.active + 1})
}

// vacate counts one attempt less, and lets a parked message try again.
func (s *Store) vacate(name string, now int64) {
	h, ok := s.hosts.Get(name)
	if !ok {
		return
	}
	s.hosts.Set(name, &host{no: h.no, active: h.active - 1})
	s.unpark(name, now)
}

// park keeps m until an attempt to its host, which is saturated, has ended.
func (s *Store) park(m *Message, name string, now int64) {
	h, _ := s.hosts.Get(name)
	s.enter(m, placeParked, int64(h.no), now)
}

// unpark lets the oldest message parked for a host try again, and forgets a host of which there is nothing to know.
func (s *Store) unpark(name string, now int64) {
	h, ok := s.hosts.Get(name)
	if !ok {
		return
	}
	if seq, some := first(s.parked, h.no); some {
		old, _ := s.messages.Get(seq)
		m := edit(old)
		s.leave(m)
		s.enter(m, placeDue, now, now)
		s.store(m)
	}
	if _, more := first(s.parked, h.no); !more && h.active <= 0 {
		s.hosts.Delete(name)
	}
}
