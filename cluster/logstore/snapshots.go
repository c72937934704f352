package logstore

// Snapshot is what CheckSnapshots found out about one snapshot.
type Snapshot struct {
	ID    string // the name of its directory
	Path  string // its directory
	Index uint64 // the last log entry it contains
	Term  uint64 // that entry's term
	// Damage is nil for a sound snapshot.
	Damage error
}

// horizon is what the snapshots say about the log.
type horizon struct {
	known       bool   // false: the caller gave no list
	any         bool   // there is at least one, sound or not
	index, term uint64 // of the newest sound one; 0: none
	lost        uint64 // index of the newest damaged one ahead of index; 0: none
	lostPath    string
	broken      []Snapshot
}

func horizonOf(list []Snapshot) horizon {
	h := horizon{known: list != nil, any: len(list) > 0}
	for _, s := range list {
		switch {
		case s.Damage != nil:
			h.broken = append(h.broken, s)
			if s.Index > h.lost {
				h.lost, h.lostPath = s.Index, s.Path
			}
		case s.Index > h.index:
			h.index, h.term = s.Index, s.Term
		}
	}
	return h
}

// setAside is refined below.
func (s *Store) setAside(h horizon) error { return nil }
