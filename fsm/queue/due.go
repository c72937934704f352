package queue

// hurry is the messages with a priority that are due, by priority and then by time.
type hurry struct {
	all *lineTree
	// first is the first of each priority, as every claim asks for all of them; without a number there is none.
	first [MaxPriority + 1]Stamp
}

func (h *hurry) fork() hurry { return hurry{h.all.Snapshot(), h.first} }

func (h *hurry) add(priority int, at Stamp) {
	h.all.Set(inLine{uint64(priority), uint64(at.At), at.Seq}, struct{}{})
	if first := &h.first[priority]; first.Seq == 0 || at.before(*first) {
		*first = at
	}
}

func (h *hurry) remove(priority int, at Stamp) {
	h.all.Delete(inLine{uint64(priority), uint64(at.At), at.Seq})
	if h.first[priority] != at {
		return
	}
	h.first[priority] = Stamp{}
	if m, ok := from(h.all, inLine{of: uint64(priority)}); ok {
		h.first[priority] = Stamp{int64(m.list), m.seq}
	}
}

// by counts the messages of a priority that are due by a time.
func (h *hurry) by(priority int, now int64) int {
	if first := h.first[priority]; first.Seq == 0 || first.At > now {
		return 0
	}
	until, _ := h.all.Rank(inLine{of: uint64(priority), list: uint64(now) + 1})
	return until - h.all.RankHead(uint64(priority))
}

// Overdue is the earliest time, in unix milliseconds, at which a message is or was to be
// looked at; false if there is none.
func (s *Store) Overdue() (at int64, ok bool) {
	first, _, ok := s.places.due.Min()
	for _, h := range s.places.hurried.first {
		if h.Seq != 0 && (!ok || h.before(first)) {
			first, ok = h, true
		}
	}
	return first.At, ok
}

// firstDue is the message that comes first of those that are due, with the time by which it does: earlier than it was due by
// PriorityStep for each level of its priority.
func (s *Store) firstDue(now int64) (Stamp, bool) {
	first, _, ok := s.places.due.Min()
	ok = ok && first.At <= now
	for p, h := range s.places.hurried.first {
		if h.Seq == 0 || h.At > now {
			continue
		}
		if r := (Stamp{rank(h.At, p), h.Seq}); !ok || r.before(first) {
			first, ok = r, true
		}
	}
	return first, ok
}

// before reports whether a stamp is earlier than another, or has the lower number.
func (s Stamp) before(o Stamp) bool { return s.At < o.At || s.At == o.At && s.Seq < o.Seq }

// dueBy counts the messages that are due by a time.
func (s *Store) dueBy(now int64) int {
	n, _ := s.places.due.Rank(Stamp{At: now + 1})
	for p := range s.places.hurried.first {
		n += s.places.hurried.by(p, now)
	}
	return n
}
