package queue

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/payload"
)

// Package fsm asks what operations will add before they are applied, and refuses what does not fit. What nobody asks for then,
// the ends of attempts and the ticks of schedules, comes about all the same: it asks the store, which has been told how much it
// may add in this apply. What does not fit is left out, and what is left out is told.

// SetRoom says how many bytes the store may add in this apply, a negative number if it has too many. Unlimited ends that: what
// was said must not outlast the apply, since it is no part of the state.
func (s *Store) SetRoom(bytes int64) {
	if s.memory.most = math.MaxInt64; bytes != Unlimited {
		s.memory.most = s.counted() + bytes
	}
}

// Unlimited is for SetRoom.
const Unlimited = math.MaxInt64

// counted is the logical size that memory limits are held against.
func (s *Store) counted() int64 { return s.Used() - s.memory.uncounted }

// limited reports whether there is a limit in this apply.
func (s *Store) limited() bool { return s.memory.most != Unlimited }

// fits reports whether so many bytes may be added.
func (s *Store) fits(bytes int64) bool { return s.counted()+bytes <= s.memory.most }

// makeRoom forgets the oldest history, if there is no room for so many bytes, and reports whether there is then. History gives
// way to what goes on, as it does when it takes more than Settings.EventBytes. No message may be under change meanwhile.
func (s *Store) makeRoom(bytes int64) bool {
	for n := 0; !s.fits(bytes) && n < maxForgotten && s.forgetEvent(); n++ {
	}
	return s.fits(bytes)
}

// maxForgotten is the most events that one step of an apply forgets to make room.
const maxForgotten = 2_000

// countedOf returns the bytes of a body of n bytes that count as memory.
func countedOf(n int) int64 { return int64(n) - payload.Uncounted(n) }

// reserved is the part of a message's logical size for callbacks that are to come: what each kind of them needs at least, so that the outcome
// of a message whose publication fitted is told however full the database is by then. The body of the answer may be left out.
func (m *Message) reserved() int64 {
	if m.calls&reserves == 0 {
		return 0
	}
	return int64(m.calls&callsBack+m.calls&callsFailure>>1) * reserveFor(int64(m.head.Len()))
}

// reserveFor is the least that a callback needs, without bodies and headers of answers, if its message has a head of that length:
// in that are its URL and its headers.
func reserveFor(head int64) int64 { return messageCost + eventCost + payload.Apart + 2*head }
