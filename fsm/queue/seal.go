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
	// sweptTogether is the most volumes that one Sweep makes. Entries that bring events seal as they go, so a Sweep is for what nothing
	// else seals, and waits until it can make as many, or for idleSealAfter milliseconds.
	sweptTogether = 8
	idleSealAfter = 10 * minute
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

// sweepable is sealable for a Sweep.
func (s *Store) sweepable() (at int64, ok bool) {
	at, ok = s.sealable()
	if !ok {
		return 0, false
	}
	at += idleSealAfter
	if s.events.byNo.Len() >= sweptTogether*sealedTogether {
		_, newest := s.events.byNo.At(sweptTogether*sealedTogether - 1)
		at = min(at, newest.At+sealAfter)
	}
	return at, true
}

// seal makes volumes of old events, one for each entry of the log, and more if this apply has added more events than that.
func (s *Store) seal(e *env.Env, recorded int) {
	if s.events.sealedAt != e.Index || recorded >= sealedTogether {
		s.sealSome(e, max(1, 2*recorded/sealedTogether))
	}
}

// sweepSeal makes the volumes of a Sweep, and returns their number.
func (s *Store) sweepSeal(e *env.Env) int {
	if at, ok := s.sweepable(); !ok || at > e.Now || s.events.sealedAt == e.Index {
		return 0
	}
	return s.sealSome(e, sweptTogether)
}

// sealSome makes volumes of old events, at most so many, and returns their number.
func (s *Store) sealSome(e *env.Env, most int) (made int) {
	for ; s.sealing && made < most; made++ {
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
