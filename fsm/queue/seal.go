package queue

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/sealed"
)

const (
	// sealAfter is the age in milliseconds from which on events go into volumes.
	sealAfter = minute
	// sealedTogether is the number of events of a volume. It ends earlier if they have sealedBytes, or bodies that are apart of sealedApart:
	// a backup has it in one record.
	sealedTogether = 512
	sealedBytes    = 256 << 10
	sealedApart    = 16 << 20
	// sealedSpan is the part of the time for which events are kept, as a divisor, that a volume may span: it goes as a whole.
	sealedSpan = 16
)

// sealable returns the time from which on the oldest events can be sealed, in unix milliseconds; false if there are too few of them, or
// if they lie too far apart: the little that seldom happens stays in the tree.
func (s *Store) sealable() (at int64, ok bool) {
	if s.events.byNo.Len() < sealedTogether {
		return 0, false
	}
	_, oldest, _ := s.events.byNo.Min()
	_, newest := s.events.byNo.At(sealedTogether - 1)
	if age := s.settings.EventAge; age > 0 && newest.At-oldest.At > age/sealedSpan {
		return 0, false
	}
	return newest.At + sealAfter, true
}

// seal makes volumes of old events, one for each entry of the log, and more if this apply has added more events than that. It returns
// the number of volumes.
func (s *Store) seal(e *env.Env, recorded int) (made int) {
	if !s.sealing || s.events.sealedAt == e.Index && recorded < sealedTogether {
		return 0
	}
	for most := max(1, 2*recorded/sealedTogether); made < most; made++ {
		if at, ok := s.sealable(); !ok || at > e.Now {
			break
		}
		s.sealOne()
		s.events.sealedAt = e.Index
	}
	return made
}

// sealOne moves the oldest events into a volume, and the messages that have no others and are done.
func (s *Store) sealOne() {
	bi, n := newBinder(), 0
	s.events.byNo.All(func(_ uint64, v *Event) bool {
		if n > 0 && v.Seq != bi.volume.Last+1 { // numbers go on from others after an import
			return false
		}
		m, _ := s.messages.Get(v.message)
		bi.add(v, m)
		n++
		return n < sealedTogether && !bi.full()
	})
	v := bi.bind()
	for no := v.First; no <= v.Last; no++ {
		old, _ := s.events.byNo.Get(no)
		s.removeEvent(no, old)
	}
	v.Records = payload.New(v.Records.Bytes(), s.keeper)
	s.addPast(v)
}

func (s *Store) addPast(v *sealed.Volume) {
	s.events.past.Add(v)
	s.memory.uncounted += v.Size() - v.Counted()
}

func (s *Store) dropPast(v *sealed.Volume) {
	s.events.past.DropOldest()
	s.memory.uncounted -= v.Size() - v.Counted()
}

// pastEnd returns the time at which a volume is to go: when its newest event is.
func (s *Store) pastEnd(v *sealed.Volume) int64 { return roundUp(addTime(v.To, s.settings.EventAge)) }
