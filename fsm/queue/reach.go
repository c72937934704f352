package queue

// Bound says why a history goes back no further.
type Bound string

// The bounds of a history.
const (
	ByNothing Bound = "nothing" // all that has happened is there
	ByTime    Bound = "time"    // what is older has passed its retention
	ByBytes   Bound = "bytes"   // what is older had to give way
)

// Reach says how far back a history goes.
type Reach struct {
	// Oldest is the time of the oldest record that can be listed, in unix milliseconds, 0 if there is none.
	Oldest int64
	Bound  Bound
	// Age and Bytes are the retention in milliseconds and in bytes, 0 for none; Used are the bytes that the history takes.
	Age, Bytes, Used int64
}

const (
	// reachPart is the part of a bound, as a divisor, that a history may be short of it: it goes a volume at a time.
	reachPart = 8
	// shortPart is the part of its retention, as a divisor, below which a history that its bytes bound is short.
	shortPart = 2
)

// Judge finds the bound at a time, in unix milliseconds.
func (r *Reach) Judge(now int64) {
	switch {
	case r.Full():
		r.Bound = ByBytes
	case r.Oldest > 0 && r.Age > 0 && now-r.Oldest >= r.Age-r.Age/reachPart:
		r.Bound = ByTime
	default:
		r.Bound = ByNothing
	}
}

// Full reports whether a history takes the bytes that it may, about. It needs Bytes and Used alone.
func (r *Reach) Full() bool { return r.Bytes > 0 && r.Used >= r.Bytes-r.Bytes/reachPart }

// Short reports whether a history has to give way to its bytes long before its retention is over.
func (r *Reach) Short(now int64) bool {
	return r.Full() && r.Oldest > 0 && r.Age > 0 && now-r.Oldest < r.Age/shortPart
}

// Crowded reports whether events take the bytes that they may, about.
func (s *Store) Crowded() bool {
	r := Reach{Bytes: s.settings.EventBytes, Used: s.history()}
	return r.Full()
}

// history is the bytes that all events take.
func (s *Store) history() int64 { return s.memory.done + s.events.past.Size() }

// Reach says how far back events can be listed.
func (s *Store) Reach(now int64) Reach {
	r := Reach{Age: s.settings.EventAge, Bytes: s.settings.EventBytes, Used: s.history()}
	if v := s.events.past.Oldest(); v != nil {
		r.Oldest = v.From
	} else if _, oldest, ok := s.events.byNo.Min(); ok {
		r.Oldest = oldest.At
	}
	r.Judge(now)
	return r
}
