package logstore

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// WriteFormer brings a directory that no process has open into the format of version 0.2.0, so that a node can go back to it while
// the cluster's feature level allows that. It returns the indexes of the first and the last entry. A directory that it could not
// finish is still one of this format.
func WriteFormer(o Options) (from, to uint64, err error) {
	if there, err := exists(dbPath(o.Dir)); !there {
		return 0, 0, first(err, fmt.Errorf("log store: %s has no log", o.Dir))
	}
	s, err := Open(o)
	if err != nil {
		return 0, 0, err
	}
	from, to = s.log.Bounds()
	term := s.log.Term(to)
	err = s.writeFormerDatabase(from, to)
	if closed := s.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return 0, 0, err
	}
	if s.lock, err = lockDir(o.Dir, s.opts.LockTimeout); err != nil {
		return 0, 0, err
	}
	defer s.lock.Close()
	return from, to, s.becomeFormer(to, term)
}

// writeFormerDatabase writes the database of the former format, with the log in it, under another name.
func (s *Store) writeFormerDatabase(from, to uint64) error {
	t, err := readTreeOf(s.path)
	if err != nil {
		return err
	}
	temp := filepath.Join(s.opts.Dir, newFile)
	if err := os.RemoveAll(temp); err != nil {
		return fmt.Errorf("log store: downgrade: %w", err)
	}
	b, err := boltdb.New(boltdb.Options{Path: temp, BoltOptions: boltOptions(s.opts.LockTimeout)})
	if err != nil {
		return fmt.Errorf("log store: downgrade: %w", err)
	}
	err = s.copyFormer(b, from, to)
	for key, value := range t.conf { // unordered: the database orders them
		err = first(err, b.Set([]byte(key), sealValue([]byte(key), value)))
	}
	err = first(err, b.Set([]byte(formerCleanKey), sealValue([]byte(formerCleanKey), []byte("1"))), b.Close())
	if err != nil {
		return fmt.Errorf("log store: downgrade: %w", err)
	}
	return nil
}

func (s *Store) copyFormer(b *boltdb.BoltStore, from, to uint64) error {
	var chunk []*raft.Log
	bytes := 0
	for i := from; i <= to && i != 0; i++ {
		l := &raft.Log{}
		if err := s.log.Read(i, l); err != nil {
			return err
		}
		seal(l)
		chunk, bytes = append(chunk, l), bytes+len(l.Data)+len(l.Extensions)
		if bytes < upgradeChunk && i < to {
			continue
		}
		if err := b.StoreLogs(chunk); err != nil {
			return err
		}
		chunk, bytes = nil, 0
	}
	return nil
}

// becomeFormer puts the database in its place and then the mark, with which the directory is one of the former format.
func (s *Store) becomeFormer(last, term uint64) error {
	if err := os.Remove(filepath.Join(s.opts.Dir, stableMark)); err != nil {
		return fmt.Errorf("log store: downgrade: %w", err)
	}
	if err := replaceFile(filepath.Join(s.opts.Dir, newFile), s.path); err != nil {
		return err
	}
	if err := s.writeFormerMark(last, term); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(s.opts.Dir, logDir)); err != nil {
		return fmt.Errorf("log store: downgrade: %w", err)
	}
	return syncDir(s.opts.Dir)
}
