package logstore

import "runtime/debug"

// deleteChunk is how many entries one transaction deletes. A long deletion in
// one piece would hold up the appends (a million entries take seconds) and look
// like a stalled disk.
const deleteChunk = 1024

// DeleteRange deletes the entries from..to, both included, in pieces: of the
// log's beginning from below, of its end from above, so that what a crash leaves
// has no gap.
func (s *Store) DeleteRange(from, to uint64) error {
	s.counts.deletes.Add(1)
	for done := false; !done; {
		if err := s.usable(); err != nil {
			return err
		}
		err := s.retryWithReserve(func() (err error) {
			done, err = s.deletePiece(from, to)
			return err
		})
		if err != nil {
			return s.judge("delete log entries", err)
		}
	}
	return nil
}

func (s *Store) deletePiece(from, to uint64) (done bool, err error) {
	s.writes.enter()
	defer s.writes.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	return s.deleteSome(from, to)
}

// deleteSome deletes one piece of from..to, with Store.mu held.
func (s *Store) deleteSome(from, to uint64) (done bool, err error) {
	begin, last, err := s.rawBounds()
	if err != nil || last == 0 || from > last || to < begin {
		return true, err
	}
	if to < last {
		from = max(from, begin)
		end := min(to, from+deleteChunk-1)
		return end == to, s.inner.DeleteRange(from, end)
	}
	// A mark above the log means that the log has lost its tail, so the mark
	// goes down first, durably, and at once to where it will stay.
	left := uint64(0)
	if from > begin {
		left = from - 1
	}
	if err := s.mark.lower(left); err != nil {
		return false, err
	}
	from = max(from, begin)
	start := from
	if last-from >= deleteChunk {
		start = last - deleteChunk + 1
	}
	return start == from, s.inner.DeleteRange(start, last)
}
