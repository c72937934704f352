package workflow

// Untrimmed is what trim still has to do, which no snapshot holds: 0 after each entry.
func (s *Store) Untrimmed() int { return s.trimmable }
