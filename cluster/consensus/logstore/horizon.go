package logstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore/wal"
)

// horizon sums up what the snapshots say about the log.
type horizon struct {
	known       bool      // false: the caller gave no list
	any         bool      // there is at least one, sound or not
	index, term uint64    // of the newest sound one; 0: none
	lost        *Snapshot // the newest damaged one ahead of index; nil: none
	broken      []Snapshot
}

func horizonOf(list []Snapshot) horizon {
	h := horizon{known: list != nil, any: len(list) > 0}
	for _, s := range list {
		if s.Damage == nil && s.Index > h.index {
			h.index, h.term = s.Index, s.Term
		}
	}
	for _, s := range list {
		if s.Damage == nil {
			continue
		}
		h.broken = append(h.broken, s)
		if s.Index > h.index && (h.lost == nil || s.Index > h.lost.Index) {
			h.lost = &s
		}
	}
	return h
}

// fit makes the log and the snapshots one history, or refuses. A damaged snapshot does no harm where the log goes on from an
// older one and reaches past it; it is then moved aside, because raft would send it to followers.
func (s *Store) fit(h horizon) error {
	if !h.known {
		return nil
	}
	first, last := s.log.Bounds()
	gap := last != 0 && first > h.index+1
	switch {
	case h.lost != nil && (gap || last < h.lost.Index):
		return fmt.Errorf("%w; the log (%d..%d) cannot replace it; %s", h.lost.Damage, first, last, wayOut)
	case gap:
		return damaged(s.opts.in(logDir), "the log begins at entry %d, but the newest snapshot ends at %d", first, h.index)
	}
	if last != 0 && s.stale(h) {
		s.opts.Logger.Info("the newest snapshot replaces the log; emptying it", "first", first, "last", last, "snapshot", h.index)
		if err := s.DeleteRange(first, last); err != nil {
			return fmt.Errorf("log store: empty the log behind the snapshot: %w", err)
		}
	}
	return s.setAside(h.broken)
}

// stale reports whether the newest sound snapshot replaces the whole log: it is ahead of it, or of another history (a crash
// came between the arrival of the snapshot and the emptying of the log).
func (s *Store) stale(h horizon) bool {
	first, last := s.log.Bounds()
	if last < h.index {
		return true
	}
	return h.index != 0 && first <= h.index && s.log.Term(h.index) != h.term
}

const asideDir = "damaged"

// setAside moves damaged snapshots out of raft's sight, and keeps them.
func (s *Store) setAside(broken []Snapshot) error {
	for _, b := range broken {
		aside := s.opts.in(asideDir)
		if err := os.MkdirAll(aside, 0o700); err != nil {
			return fmt.Errorf("log store: move a damaged snapshot aside: %w", err)
		}
		to := filepath.Join(aside, b.ID)
		if err := errors.Join(os.RemoveAll(to), os.Rename(b.Path, to), wal.SyncDir(aside), wal.SyncDir(filepath.Dir(b.Path))); err != nil {
			return fmt.Errorf("log store: move a damaged snapshot aside: %w", err)
		}
		s.opts.Logger.Error("a snapshot is damaged; the log replaces it", "moved to", to, "error", b.Damage)
	}
	return nil
}
