package queue

import "github.com/trireme-dev/trireme/fsm/env"

// memory counts the logical memory of a store, in bytes. Each message counts in one of live, done and dead.
type memory struct {
	live      int64 // of messages that are not done, with what is reserved for their callbacks
	done      int64 // of events, and of messages that are done and have no dead letter
	dead      int64 // of dead letters and their messages
	fixed     int64 // of everything else but bulk actions
	uncounted int64 // of all these, what does not count
	most      int64 // that may count in this apply, see SetRoom
}

func (m *memory) used() int64 { return m.live + m.done + m.dead + m.fixed }

// Used is the logical memory of everything about messages, in bytes.
func (s *Store) Used() int64 {
	return s.memory.used() + s.places.shares.memory + s.events.past.Size() + s.bulk.Used()
}

// Uncounted returns the bytes of Used that are payloads on the nodes' disks. They do not count.
func (s *Store) Uncounted() int64 { return s.memory.uncounted }

// trim removes events and dead letters that are older, or more, than the settings keep: two for each event recorded
// since the last call, so that an entry's work is bounded by what it adds. Old events go into volumes.
func (s *Store) trim(e *env.Env) {
	n := s.trimmable
	s.trimmable = 0
	s.sweep(e.Now, n)
	s.seal(e, n/2)
	s.makeRoom(0)
}

// Sweep forgets what need not be kept any longer, at most limit records, and returns how many.
func (s *Store) Sweep(e *env.Env, limit int) (done int) {
	done = s.emptyQueues(e, limit)
	s.trimmable = 0
	done += s.sweep(e.Now, limit-done)
	if done < limit {
		done += s.seal(e, 0)
	}
	return done + s.sweepBulk(e, limit-done)
}

func (s *Store) sweep(now int64, limit int) (done int) {
	for done < limit && s.dropEvent(now) {
		done++
	}
	for done < limit && s.dropDead(now) {
		done++
	}
	done += s.forgetDedups(now, limit-done)
	done += s.places.shares.forgetIdle(now, limit-done)
	return done + s.forgetFlowControl(now, limit-done)
}

// dropEvent removes the oldest event, or the oldest volume of them, if its time is over or events take too much room, and with its
// last event a message that is done.
func (s *Store) dropEvent(now int64) bool {
	end, ok := s.nextDrop()
	n := &s.settings
	if !ok || !(n.EventAge > 0 && end <= now || n.EventBytes > 0 && s.history() > n.EventBytes) {
		return false
	}
	return s.forgetEvent()
}

// nextDrop returns the time at which the oldest event or volume of them is to go; false if there is none.
func (s *Store) nextDrop() (unixms int64, ok bool) {
	if v := s.events.past.Oldest(); v != nil {
		return s.pastEnd(v), true
	}
	_, v, ok := s.events.byNo.Min()
	if !ok {
		return 0, false
	}
	return s.eventEnd(v), true
}

// forgetEvent removes the oldest event or volume of them, whatever its age, and reports whether there was one.
func (s *Store) forgetEvent() bool {
	if v := s.events.past.Oldest(); v != nil {
		s.dropPast(v)
		return true
	}
	no, v, ok := s.events.byNo.Min()
	if ok {
		s.removeEvent(no, v)
	}
	return ok
}

func (s *Store) removeEvent(no uint64, v *Event) {
	s.events.byNo.Delete(no)
	s.memory.done -= v.size()
	s.memory.uncounted -= v.uncounted()
	if m, ok := s.messages.Get(v.message); ok {
		s.discard(m)
	}
}

func (s *Store) eventEnd(v *Event) int64 { return roundUp(addTime(v.At, s.settings.EventAge)) }

// discard forgets a message that is done and of which nothing else speaks any more.
func (s *Store) discard(m *Message) {
	if m.place != placeDone {
		return
	}
	if _, ok := s.events.byNo.Get(m.last); ok {
		return
	}
	if _, ok := s.dead.Get(Stamp{m.at, m.Seq}); ok {
		return
	}
	if _, ok := s.places.holding.Get(member{m.queue, m.Seq}); ok {
		return
	}
	s.messages.Delete(m.Seq)
	s.memory.done -= m.size()
	s.memory.uncounted -= m.uncounted()
	s.release(m)
	if m.calls&gathers != 0 {
		s.dropParts(m.Seq)
	}
}

// dropDead removes the oldest dead letter if its time is over or dead letters take too much room.
func (s *Store) dropDead(now int64) bool {
	t, d, ok := s.dead.Min()
	n := &s.settings
	if !ok || !(n.DeadAge > 0 && s.deadEnd(d) <= now || n.DeadBytes > 0 && s.memory.dead > n.DeadBytes) {
		return false
	}
	s.removeDead(t, d)
	return true
}

func (s *Store) deadEnd(d *Dead) int64 { return roundUp(addTime(d.At, s.settings.DeadAge)) }

// setDead stores a dead letter in the place of the old one, nil if it is new.
func (s *Store) setDead(old, d *Dead) {
	s.memory.dead += d.size()
	s.memory.uncounted += d.uncounted()
	if old != nil {
		s.memory.dead -= old.size()
		s.memory.uncounted -= old.uncounted()
	}
	s.dead.Set(d.Stamp, d)
}

// removeDead removes a dead letter; its message stays as long as its events do.
func (s *Store) removeDead(t Stamp, d *Dead) {
	s.dead.Delete(t)
	s.memory.dead -= d.size()
	s.memory.uncounted -= d.uncounted()
	if m, ok := s.messages.Get(t.Seq); ok {
		s.memory.dead -= m.size()
		s.memory.done += m.size()
		s.discard(m)
	}
}

// NextSweep returns the time at which the next record is to be forgotten, in unix milliseconds.
func (s *Store) NextSweep() (unixms int64, ok bool) {
	soonest := func(at int64, found bool) {
		if found && (!ok || at < unixms) {
			unixms, ok = at, true
		}
	}
	if s.settings.EventAge > 0 {
		soonest(s.nextDrop())
	}
	if s.sealing {
		soonest(s.sealable())
	}
	if _, d, found := s.dead.Min(); found && s.settings.DeadAge > 0 {
		soonest(s.deadEnd(d), true)
	}
	d, _, found := s.dedups.ends.Min()
	soonest(d.at, found)
	t, _, found := s.flows.idle.Min()
	soonest(t.At, found)
	t, _, found = s.places.shares.idle.Min()
	soonest(t.At, found)
	soonest(0, s.queues.deleted.Len() > 0)
	soonest(s.bulk.NextSweep())
	return unixms, ok
}

// NextByTime returns the cluster time at which Advance has something to do next, in unix milliseconds: a message, a flow-control key, a lease or a
// schedule. While as many attempts are under way as there may be, messages and keys have to wait for the end of one.
func (s *Store) NextByTime() (unixms int64, ok bool) {
	soonest := func(at int64, found bool) {
		if found && (!ok || at < unixms) {
			unixms, ok = at, true
		}
	}
	t, _, found := s.places.leases.Min()
	soonest(t.At, found)
	soonest(s.schedules.nextByTime())
	if n := s.settings.GlobalParallelism; n > 0 && s.places.leases.Len() >= n {
		return unixms, ok
	}
	soonest(s.Overdue())
	t, _, found = s.flows.openings.Min()
	soonest(t.At, found)
	return unixms, ok
}
