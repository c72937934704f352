package queue

// copyOf returns a copy of a message that may be changed and must be stored afterwards.
func copyOf(m *Message) *Message {
	c := *m
	return &c
}

// find is the message of an id, nil if it is not there, or not any more.
func (s *Store) find(id ID) *Message {
	m, _ := s.messages.Get(id.Seq)
	if m == nil || m.Salt != id.Salt {
		return nil
	}
	return m
}

// store puts a message in place of its older form.
func (s *Store) store(m *Message) { s.messages.Set(m.Seq, m) }

// enter puts m into the index of a place. at is its time in that index.
func (s *Store) enter(m *Message, p place, at, now int64) {
	m.place, m.at, m.since = p, at, now
	s.places.add(m)
}

// start puts a new message where it begins: at the end of its queue, or where its time decides.
func (s *Store) start(m *Message, firstAt, now int64) {
	if m.queue != 0 {
		s.enter(m, placeBacklog, firstAt, now)
		return
	}
	s.enter(m, placeDue, max(firstAt, now), now)
}

// admit gives free slots of a queue to the messages whose turn it is.
func (s *Store) admit(no uint64, now int64) {
	q, ok := s.queues.byNo.Get(no)
	if !ok || q.Paused {
		return
	}
	free := q.Parallelism - s.places.taken(no)
	for ; free > 0; free-- {
		turn, ok := s.nextIn(s.places.backlog, no)
		if !ok {
			return
		}
		old, _ := s.messages.Get(turn.seq)
		m := copyOf(old)
		s.places.remove(m)
		s.places.slots.Set(member{no, turn.seq}, struct{}{})
		s.places.shares.charge(no, turn.list>>priorityBits, m.cost())
		s.enter(m, placeDue, max(m.at, now), now)
		s.store(m)
	}
}

// revokeSlot moves m, which is not active, back to the backlog of its queue, which has been paused.
func (s *Store) revokeSlot(m *Message, now int64) {
	at := m.at
	if m.place != placeDue { // its time had come
		at = now
	}
	s.dequeue(m, now)
	s.places.slots.Delete(member{m.queue, m.Seq})
	s.enter(m, placeBacklog, at, now)
	s.store(m)
}

// dequeue removes m, which is not active, from its index without an attempt, and lets the next message of its
// flow-control key or host proceed.
func (s *Store) dequeue(m *Message, now int64) {
	s.places.remove(m)
	switch m.place {
	case placeWaiting:
		s.updateOpening(m.flow, now)
	case placeDue:
		if s.places.parked.Len() > 0 {
			s.unpark(m.envelope().Host(), now)
		}
	case placeParked:
		s.unpark(m.envelope().Host(), now)
	}
}
