package workflow

// Untrimmed counts the work that trim has left, which no snapshot holds: 0 after each entry.
func (s *Store) Untrimmed() int { return s.trimmable }

// InTrees counts the runs that are not in volumes.
func (s *Store) InTrees() int { return s.runs.Len() }
