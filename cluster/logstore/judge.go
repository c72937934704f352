package logstore

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// judgeBeginning shows the beginning of the log to Options.Judge.
func (s *Store) judgeBeginning(h horizon) error {
	if s.opts.Judge == nil || h.index != 0 {
		return nil
	}
	first, last := s.log.Bounds()
	for i := first; i <= last && i != 0; i++ {
		var l raft.Log
		if err := s.log.Read(i, &l); err != nil {
			return err
		}
		if more, err := s.opts.Judge(&l); err != nil || !more {
			return err
		}
	}
	return nil
}

// judgeFormer shows Options.Judge the beginning of a log in the former format, before that is upgraded. What is damaged is the
// upgrade's to find.
func (s *Store) judgeFormer(h horizon) error {
	if s.opts.Judge == nil || h.index != 0 {
		return nil
	}
	if former, err := s.isFormer(); err != nil || !former {
		return err
	}
	t, err := readTreeOf(s.path)
	if err != nil {
		return err
	}
	waiting, err := s.readFormerJournal(t)
	if err != nil {
		return err
	}
	readOnly := boltOptions(s.opts.LockTimeout)
	readOnly.ReadOnly = true
	b, err := boltdb.New(boltdb.Options{Path: filepath.Join(s.opts.Dir, dbFile), BoltOptions: readOnly})
	if err != nil {
		return fmt.Errorf("log store: open %s: %w", s.path, err)
	}
	defer b.Close()
	for i := t.first; i <= t.last && i != 0; i++ {
		var l raft.Log
		if err := b.GetLog(i, &l); err != nil {
			return damaged(s.path, "log entry %d: %w", i, err)
		}
		if more, err := s.opts.Judge(&l); err != nil || !more {
			return err
		}
	}
	if waiting == nil {
		return nil
	}
	for _, l := range waiting.logs {
		if more, err := s.opts.Judge(l); err != nil || !more {
			return err
		}
	}
	return nil
}
