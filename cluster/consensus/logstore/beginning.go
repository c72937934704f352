package logstore

import (
	"fmt"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// checkBeginning shows the beginning of the log to Options.CheckEntry.
func (s *Store) checkBeginning(h horizon) error {
	if s.opts.CheckEntry == nil || h.index != 0 {
		return nil
	}
	first, last := s.log.Bounds()
	for i := first; i <= last && i != 0; i++ {
		var l raft.Log
		if err := s.log.Read(i, &l); err != nil {
			return err
		}
		if more, err := s.checkEntry(&l); err != nil || !more {
			return err
		}
	}
	return nil
}

// checkFormerBeginning shows Options.CheckEntry the beginning of a log in the former format, before that is upgraded.
func (s *Store) checkFormerBeginning(h horizon) error {
	if s.opts.CheckEntry == nil || h.index != 0 {
		return nil
	}
	if former, err := s.isFormer(); err != nil || !former {
		return err
	}
	if database, err := exists(s.path); err != nil || !database {
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
	b, err := boltdb.New(boltdb.Options{Path: s.path, BoltOptions: readOnly})
	if err != nil {
		return fmt.Errorf("log store: open %s: %w", s.path, err)
	}
	defer b.Close()
	for i := t.first; i <= t.last && i != 0; i++ {
		var l raft.Log
		if err := b.GetLog(i, &l); err != nil {
			return damaged(s.path, "log entry %d: %w", i, err)
		}
		if more, err := s.checkEntry(&l); err != nil || !more {
			return err
		}
	}
	if waiting == nil {
		return nil
	}
	for _, l := range waiting.logs {
		if more, err := s.checkEntry(l); err != nil || !more {
			return err
		}
	}
	return nil
}

func (s *Store) checkEntry(l *raft.Log) (more bool, err error) {
	if l.Type != raft.LogCommand {
		return true, nil
	}
	return s.opts.CheckEntry(l.Data)
}
