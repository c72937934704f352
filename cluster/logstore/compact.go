package logstore

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"
)

const (
	compactFile  = dbFile + ".compact"
	compactChunk = 16 << 20 // bytes of one transaction while copying
)

// compact rewrites the database into a new file when the old one is large and
// mostly empty. A crash at any point leaves one whole file under the right name:
// the copy is synced and checked before it takes the place of the old one.
func (s *Store) compact(t *tree) error {
	size, live := fileSize(s.path), int64(t.live)*t.meta.pageSize
	if size <= s.opts.Compaction.Over || float64(live) >= s.opts.Compaction.Below*float64(size) {
		return nil
	}
	if err := s.inner.Close(); err != nil {
		return fmt.Errorf("log store: %w", err)
	}
	s.inner = nil
	temp := filepath.Join(s.opts.Dir, compactFile)
	err := s.copyTo(temp, t)
	if err == nil {
		err = replaceFile(temp, s.path)
	}
	if err != nil { // a larger file than needed is no reason not to start
		os.Remove(temp)
		s.opts.Logger.Warn("the database file was not compacted", "bytes", size, "error", err)
	} else {
		s.opts.Logger.Info("compacted the database file", "bytes before", size, "bytes after", fileSize(s.path))
	}
	if err := s.connect(); err != nil {
		return err
	}
	return s.verify(t)
}

// copyTo copies the live part of the database and compares what was copied.
func (s *Store) copyTo(temp string, want *tree) (err error) {
	defer catch(&err, s.path, debug.SetPanicOnFault(true))
	if err := copyBolt(s.path, temp, boltOptions(s.opts.LockTimeout)); err != nil {
		return err
	}
	got, err := readTreeOf(temp)
	if err != nil {
		return err
	}
	if got.first != want.first || got.last != want.last || !maps.EqualFunc(got.conf, want.conf, slices.Equal) {
		return errors.New("the copy differs from the original")
	}
	return nil
}

func copyBolt(from, to string, o *bbolt.Options) error {
	ro := *o
	ro.ReadOnly = true
	src, err := bbolt.Open(from, 0o600, &ro)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := bbolt.Open(to, 0o600, o)
	if err != nil {
		return err
	}
	dst.NoSync = true // synced once, below
	err = bbolt.Compact(dst, src, compactChunk)
	return first(err, dst.Sync(), dst.Close())
}

func fileSize(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}
