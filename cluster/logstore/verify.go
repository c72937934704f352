package logstore

import (
	"errors"
	"runtime"
	"sync"
)

// verifyLeast is from how many entries on each processor verifies a part of the log.
const verifyLeast = 1000

// verify reads every entry through the database and checks its sum, that terms never fall, and that the entry at the
// high-water mark is the one meant there. All processors take part: a start waits for it.
func (s *Store) verify(t *tree) error {
	first, last, err := s.rawBounds()
	if err != nil {
		return damaged(s.path, "%w", err)
	}
	if first != t.first || last != t.last {
		return damaged(s.path, "the log holds %d..%d, but the database shows %d..%d", t.first, t.last, first, last)
	}
	if first == 0 {
		return nil
	}
	all := last - first + 1
	parts := max(min(uint64(runtime.GOMAXPROCS(0)), all/verifyLeast), 1)
	errs := make([]error, parts)
	var group sync.WaitGroup
	for i := range parts {
		// Parts share an entry, so that the terms on both sides are compared.
		from, to := first+all*i/parts, min(first+all*(i+1)/parts, last)
		group.Go(func() { errs[i] = s.verifyPart(from, to) })
	}
	group.Wait()
	for _, err := range errs { // the first damage in the log, whichever was found first
		if err != nil {
			return err
		}
	}
	return nil
}

// verifyPart is verify for the entries from first to last.
func (s *Store) verifyPart(first, last uint64) error {
	term := uint64(0)
	for i := first; i <= last; i++ {
		l, _, err := s.read(i)
		switch {
		case errors.Is(err, ErrDamaged):
			return err
		case err != nil:
			return damaged(s.path, "log entry %d: %w", i, err)
		case l.Term < term:
			return damaged(s.path, "log entry %d is of term %d, but the one before is of term %d", i, l.Term, term)
		case i == s.mark.index && s.mark.term != 0 && l.Term != s.mark.term:
			return damaged(s.path, "log entry %d is of term %d, but had been of term %d", i, l.Term, s.mark.term)
		}
		term = l.Term
	}
	return nil
}
