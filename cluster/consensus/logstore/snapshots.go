package logstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"os"
	"path/filepath"
	"slices"
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

// SnapshotStore is raft's file snapshot store with a header in front of each state. The library sums the state only; index,
// term and configuration stand in a JSON file without a sum, and a flipped digit there would make raft skip log entries. The
// header repeats them, so the state's sum covers them too.
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

// List returns the snapshots, newest first, with the sizes of their states without the header: what a reader of Open gets.
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
	for _, n := range []uint64{uint64(len(conf)), uint64(m.Version), m.Index, m.Term, m.ConfigurationIndex} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
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

// Snapshot describes one snapshot, as CheckSnapshots found it.
type Snapshot struct {
	ID    string // the name of its directory
	Path  string // its directory
	Index uint64 // the last log entry that it contains
	Term  uint64 // that entry's term
	// Damage is nil for a sound snapshot, and matches ErrDamaged otherwise.
	Damage error
}

// CheckSnapshots reads every snapshot below the data directory dir whole and returns them newest first, never nil without an
// error. Index and term come from the directory's name, so that they are known of a damaged one too. Give the result to
// Options.Snapshots: raft itself would pass over a damaged one in silence, even where the log cannot make up for it.
func CheckSnapshots(dir string) ([]Snapshot, error) {
	list := []Snapshot{}
	all, err := os.ReadDir(filepath.Join(dir, snapshotsDir))
	if errors.Is(err, os.ErrNotExist) {
		return list, nil
	} else if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	for _, d := range all {
		if !d.IsDir() || strings.HasSuffix(d.Name(), tempSuffix) {
			continue
		}
		s := Snapshot{ID: d.Name(), Path: filepath.Join(dir, snapshotsDir, d.Name())}
		if _, err := fmt.Sscanf(s.ID, "%d-%d-", &s.Term, &s.Index); err != nil {
			continue // not raft's, which would not find it by its name either
		}
		s.Damage = checkSnapshot(s.Path)
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Snapshot) int {
		return cmp.Or(cmp.Compare(b.Term, a.Term), cmp.Compare(b.Index, a.Index), cmp.Compare(b.ID, a.ID))
	})
	return list, nil
}

// SnapshotNames returns the names of the finished snapshots below the data directory dir, sound or not.
func SnapshotNames(dir string) (names []string, err error) {
	all, err := os.ReadDir(filepath.Join(dir, snapshotsDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	for _, d := range all {
		if d.IsDir() && !strings.HasSuffix(d.Name(), tempSuffix) {
			names = append(names, d.Name())
		}
	}
	return names, nil
}

// Open returns the state of a sound snapshot.
func (s Snapshot) Open() (io.ReadCloser, error) {
	m, err := readFacts(s.Path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(s.Path, stateName))
	if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	if _, err := readHeader(f, &m.SnapshotMeta); err != nil {
		f.Close()
		return nil, damagedSnapshot(s.Path, err)
	}
	return f, nil
}

// snapshotFacts is the content of the JSON file that accompanies a state.
type snapshotFacts struct {
	raft.SnapshotMeta
	CRC []byte
}

func checkSnapshot(path string) error {
	if err := compareSnapshot(path); err != nil {
		return damagedSnapshot(path, err)
	}
	return nil
}

func readFacts(path string) (m snapshotFacts, err error) {
	b, err := os.ReadFile(filepath.Join(path, metaName))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%s: %w", metaName, err)
	}
	return m, nil
}

func compareSnapshot(path string) error {
	m, err := readFacts(path)
	if err != nil {
		return err
	}
	if m.ID != filepath.Base(path) {
		return fmt.Errorf("%s says that it is %q", metaName, m.ID)
	}
	f, err := os.Open(filepath.Join(path, stateName))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	in := io.TeeReader(f, sum)
	header, err := readHeader(in, &m.SnapshotMeta)
	if err != nil {
		return err
	}
	state, err := io.Copy(io.Discard, in)
	if err != nil {
		return err
	}
	switch size := int64(header) + state; {
	case size != m.Size:
		return fmt.Errorf("%s has %d bytes, not %d", stateName, size, m.Size)
	case !bytes.Equal(sum.Sum(nil), m.CRC):
		return fmt.Errorf("%s: %w", stateName, ErrChecksum)
	}
	return nil
}
