package queue

import "github.com/trireme-dev/trireme/fsm/env"

// SweepAt returns the time from which on Sweep has something to do, in unix milliseconds: NextSweep, or 0 if there is more than the
// settings keep. Before it a Sweep changes nothing.
func (s *Store) SweepAt() (unixms int64, ok bool) {
	n := &s.settings
	_, history := s.nextDrop()
	tooMany := n.EventBytes > 0 && s.history() > n.EventBytes && history || n.DeadBytes > 0 && s.memory.dead > n.DeadBytes && s.dead.Len() > 0
	if s.trimmable != 0 || tooMany {
		return 0, true
	}
	return s.NextSweep()
}

// WithKeys returns the store as it would be with those signing keys, for reading only.
func (s *Store) WithKeys(keys Keys) *Store {
	c := *s
	c.keys = keys
	return &c
}

// SetKeys gives a new store its signing keys.
func (s *Store) SetKeys(keys Keys) { s.keys = keys }

// FirstTick is the cluster time of the first tick of a schedule, or at which it has to be computed, in unix milliseconds. Schedules
// that fire at times of day have theirs in NextByWall.
func (s *Store) FirstTick() (unixms int64, ok bool) { return s.schedules.nextByTime() }

// NextByWall is the wall time at which Advance has something to do next, in unix milliseconds: a schedule that fires at times of day.
func (s *Store) NextByWall() (unixms int64, ok bool) { return s.schedules.nextByWall() }

// NextDue is the cluster time at which Advance has something to do next, or may have because wall time may have come up, in
// unix milliseconds.
func (s *Store) NextDue(now env.Time) (unixms int64, ok bool) {
	unixms, ok = s.NextByTime()
	if at, found := s.NextByWall(); found && (!ok || now.Reaches(at) < unixms) {
		return now.Reaches(at), true
	}
	return unixms, ok
}

// Sub takes the counts of another store away.
func (co *Counts) Sub(m Counts) {
	co.Messages, co.Active, co.Dead, co.Events = co.Messages-m.Messages, co.Active-m.Active, co.Dead-m.Dead, co.Events-m.Events
	co.Queues, co.Schedules, co.Groups, co.FlowKeys = co.Queues-m.Queues, co.Schedules-m.Schedules, co.Groups-m.Groups, co.FlowKeys-m.FlowKeys
}
