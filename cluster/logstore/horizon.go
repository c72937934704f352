package logstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// horizon is what the snapshots say about the log.
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

// fit makes the log and the snapshots one history, or refuses. A damaged
// snapshot does no harm where the log goes on from an older one and reaches
// past it; it is then moved aside, because raft would send it to followers.
func (s *Store) fit(h horizon, t *tree) error {
	if !h.known {
		return nil
	}
	gap := t.last != 0 && t.first > h.index+1
	switch {
	case h.lost != nil && (gap || t.last < h.lost.Index):
		return fmt.Errorf("%w; the log (%d..%d) cannot replace it; %s", h.lost.Damage, t.first, t.last, wayOut)
	case gap:
		return damaged(s.path, "the log begins at entry %d, but the newest snapshot ends at %d", t.first, h.index)
	}
	stale, err := s.stale(h, t)
	if err != nil {
		return err
	}
	if stale && t.last != 0 {
		if err := s.empty(h, t); err != nil {
			return err
		}
	}
	return s.setAside(h.broken)
}

// stale says whether the newest sound snapshot replaces the whole log: it is
// ahead of it, or of another history (a crash came between the arrival of the
// snapshot and the emptying of the log).
func (s *Store) stale(h horizon, t *tree) (bool, error) {
	if t.last < h.index {
		return true, nil
	}
	if h.index == 0 || t.first > h.index {
		return false, nil
	}
	l, _, err := s.read(h.index)
	if err != nil {
		return false, err
	}
	return l.Term != h.term, nil
}

func (s *Store) empty(h horizon, t *tree) error {
	s.opts.Logger.Info("the newest snapshot replaces the log; emptying it",
		"first", t.first, "last", t.last, "snapshot", h.index)
	if err := s.DeleteRange(t.first, t.last); err != nil {
		return fmt.Errorf("log store: empty the log behind the snapshot: %w", err)
	}
	t.first, t.last = 0, 0
	return nil
}

const asideDir = "damaged"

// setAside moves damaged snapshots out of raft's sight, and keeps them.
func (s *Store) setAside(broken []Snapshot) error {
	for _, b := range broken {
		aside := filepath.Join(s.opts.Dir, asideDir)
		if err := os.MkdirAll(aside, 0o700); err != nil {
			return fmt.Errorf("log store: move a damaged snapshot aside: %w", err)
		}
		to := filepath.Join(aside, b.ID)
		if err := errors.Join(os.RemoveAll(to), os.Rename(b.Path, to), syncDir(aside), syncDir(filepath.Dir(b.Path))); err != nil {
			return fmt.Errorf("log store: move a damaged snapshot aside: %w", err)
		}
		s.opts.Logger.Error("a snapshot is damaged; the log replaces it", "moved to", to, "error", b.Damage)
	}
	return nil
}
