package queue

// Overdue is the earliest time, in unix milliseconds, at which a message is or was to be
// looked at; false if there is none.
func (s *Store) Overdue() (at int64, ok bool) {
	first, _, ok := s.places.due.Min()
	at = first.At
	s.hurried(func(m inLine) {
		if t := int64(m.list); !ok || t < at {
			at, ok = t, true
		}
	})
	return at, ok
}

// hurried calls f for the first message to be due of each priority above 0.
func (s *Store) hurried(f func(inLine)) {
	t := s.places.hurried
	for p := uint64(1); p <= MaxPriority && t.Len() > 0; p++ {
		var m inLine
		t.AscendHead(p, func(k inLine, _ struct{}) bool {
			m = k
			return false
		})
		if m.of == 0 {
			return
		}
		p = m.of
		f(m)
	}
}

// firstDue is the message that comes first of those that are due, with the time by which it does: earlier than it was due by
// PriorityStep for each level of its priority.
func (s *Store) firstDue(now int64) (Stamp, bool) {
	first, _, ok := s.places.due.Min()
	ok = ok && first.At <= now
	s.hurried(func(m inLine) {
		if int64(m.list) > now {
			return
		}
		if r := (Stamp{rank(int64(m.list), int(m.of)), m.seq}); !ok || r.before(first) {
			first, ok = r, true
		}
	})
	return first, ok
}

// before reports whether a stamp is earlier than another, or has the lower number.
func (s Stamp) before(o Stamp) bool { return s.At < o.At || s.At == o.At && s.Seq < o.Seq }

// dueBy counts the messages that are due by a time.
func (s *Store) dueBy(now int64) int {
	n, _ := s.places.due.Rank(Stamp{At: now + 1})
	s.hurried(func(m inLine) {
		until, _ := s.places.hurried.Rank(inLine{of: m.of, list: uint64(now) + 1})
		n += until - s.places.hurried.RankHead(m.of)
	})
	return n
}
