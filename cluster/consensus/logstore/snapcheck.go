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

	"github.com/hashicorp/raft"
)

// Snapshot describes one snapshot, as CheckSnapshots found it.
type Snapshot struct {
	ID    string // the name of its directory
	Path  string // its directory
	Index uint64 // the last log entry that it contains
	Term  uint64 // that entry's term
	// Damage is nil for a sound snapshot, and matches ErrDamaged otherwise.
	Damage error
}

// CheckSnapshots reads every snapshot below the data directory dir whole and
// returns them newest first, never nil without an error. Index and term come
// from the directory's name, so that they are known of a damaged one too. Give
// the result to Options.Snapshots: raft itself would pass over a damaged one in
// silence, even where the log cannot make up for it.
func CheckSnapshots(dir string) ([]Snapshot, error) {
	list := []Snapshot{}
	all, err := os.ReadDir(filepath.Join(dir, snapshotsDir))
	if errors.Is(err, os.ErrNotExist) {
		return list, nil
	} else if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	for _, d := range all {
		if !d.IsDir() || isUnfinished(d.Name()) {
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
	in := &countedReader{r: io.TeeReader(f, sum)}
	if _, err := readHeader(in, &m.SnapshotMeta); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return err
	}
	switch {
	case in.n != m.Size:
		return fmt.Errorf("%s has %d bytes, not %d", stateName, in.n, m.Size)
	case !bytes.Equal(sum.Sum(nil), m.CRC):
		return fmt.Errorf("%s: %w", stateName, ErrChecksum)
	}
	return nil
}

type countedReader struct {
	r io.Reader
	n int64
}

func (cr *countedReader) Read(p []byte) (int, error) {
	n, err := cr.r.Read(p)
	cr.n += int64(n)
	return n, err
}

func appendNumbers(b []byte, ns ...uint64) []byte {
	for _, n := range ns {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}
