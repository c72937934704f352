package logstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// Names that raft's file snapshot store uses below the data directory.
const (
	snapshotsDir = "snapshots"
	metaName     = "meta.json"
	stateName    = "state.bin"
	tempSuffix   = ".tmp"
)

// SnapshotStore is raft's file snapshot store with a header in front of each
// state. The library sums the state only; index, term and configuration stand
// in a JSON file without a sum, and a flipped digit there would make raft skip
// log entries. The header repeats them, so the state's sum covers them too.
type SnapshotStore struct {
	inner *raft.FileSnapshotStore
	dir   string // of the snapshots
}

// OpenSnapshots opens or makes the snapshot store below dir, and removes snapshots that were never finished (the
// library leaves them for ever). retain is the number of snapshots to keep, at least 2, so that an older one and the
// log can replace a damaged newest one.
func OpenSnapshots(dir string, retain int, logger hclog.Logger) (*SnapshotStore, error) {
	if retain < 2 {
		return nil, fmt.Errorf("snapshot store: retain is %d, must be at least 2", retain)
	}
	s := &SnapshotStore{dir: filepath.Join(dir, snapshotsDir)}
	unfinished, err := filepath.Glob(filepath.Join(s.dir, "*"+tempSuffix))
	if err != nil {
		return nil, fmt.Errorf("snapshot store: %w", err)
	}
	for _, p := range unfinished {
		if err := os.RemoveAll(p); err != nil {
			return nil, fmt.Errorf("snapshot store: remove the unfinished: %w", err)
		}
	}
	s.inner, err = raft.NewFileSnapshotStoreWithLogger(dir, retain, logger)
	if err != nil {
		return nil, fmt.Errorf("snapshot store: %w", err)
	}
	return s, nil
}

// Create starts a snapshot; see raft.SnapshotStore.
func (s *SnapshotStore) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration,
	cIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.inner.Create(version, index, term, c, cIndex, trans)
	if err != nil {
		return nil, fmt.Errorf("snapshot store: %w", err)
	}
	h := snapshotHeader(&raft.SnapshotMeta{Version: version, Index: index, Term: term, Configuration: c, ConfigurationIndex: cIndex})
	if _, err := sink.Write(h); err != nil {
		return nil, errors.Join(fmt.Errorf("snapshot store: %w", err), sink.Cancel())
	}
	return &checkedSink{SnapshotSink: sink, path: filepath.Join(s.dir, sink.ID())}, nil
}

// List returns the snapshots, newest first, with the sizes of their states
// without the header: what a reader of Open gets.
func (s *SnapshotStore) List() ([]*raft.SnapshotMeta, error) {
	list, err := s.inner.List()
	if err != nil {
		return nil, fmt.Errorf("snapshot store: %w", err)
	}
	for _, m := range list {
		m.Size -= int64(len(snapshotHeader(m)))
	}
	return list, nil
}

// Open checks a snapshot whole and returns its state without the header.
func (s *SnapshotStore) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	m, r, err := s.inner.Open(id)
	if err != nil {
		return nil, nil, damagedSnapshot(filepath.Join(s.dir, id), err)
	}
	h, err := readHeader(r, m)
	if err == nil && m.ID != id {
		err = fmt.Errorf("it says that it is %q", m.ID)
	}
	if err != nil {
		r.Close()
		return nil, nil, damagedSnapshot(filepath.Join(s.dir, id), err)
	}
	m.Size -= int64(h)
	return m, r, nil
}

// checkedSink reads a finished snapshot back before raft shortens the log for it.
type checkedSink struct {
	raft.SnapshotSink
	path string
	done bool
}

func (s *checkedSink) Close() error {
	if s.done {
		return nil
	}
	s.done = true
	if err := s.SnapshotSink.Close(); err != nil {
		return err
	}
	if err := checkSnapshot(s.path); err != nil {
		return errors.Join(fmt.Errorf("the new snapshot: %w", err), os.RemoveAll(s.path))
	}
	return nil
}

func (s *checkedSink) Cancel() error {
	s.done = true
	return s.SnapshotSink.Cancel()
}

const snapshotMagic = "TRISNAP1"

// snapshotHeader returns the bytes that precede the state: the facts that raft keeps in the JSON file.
func snapshotHeader(m *raft.SnapshotMeta) []byte {
	conf := raft.EncodeConfiguration(m.Configuration)
	b := []byte(snapshotMagic)
	b = appendNumbers(b, uint64(len(conf)), uint64(m.Version), m.Index, m.Term, m.ConfigurationIndex)
	return append(b, conf...)
}

// readHeader takes the header off r and compares it with the JSON file's facts.
func readHeader(r io.Reader, m *raft.SnapshotMeta) (length int, err error) {
	want := snapshotHeader(m)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil {
		return 0, fmt.Errorf("no header: %w", err)
	}
	if !bytes.Equal(got, want) {
		return 0, errors.New("its meta data and its state do not belong together")
	}
	return len(want), nil
}

func damagedSnapshot(path string, err error) error {
	return fmt.Errorf("%w: snapshot %s: %w", ErrDamaged, path, err)
}

func isUnfinished(name string) bool { return strings.HasSuffix(name, tempSuffix) }
