package queue

// Overdue is the earliest time, in unix milliseconds, at which a message is or was to be
// looked at; false if there is none.
func (s *Store) Overdue() (at int64, ok bool) {
	first, _, ok := s.places.due.Min()
	return first.At, ok
}
