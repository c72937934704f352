package logstore

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

var threeServers = raft.Configuration{Servers: []raft.Server{
	{ID: "n1", Address: "127.0.0.1:7001"}, {ID: "n2", Address: "127.0.0.1:7002"}, {ID: "n3", Address: "127.0.0.1:7003"}}}

func openSnaps(t *testing.T, dir string) *SnapshotStore {
	t.Helper()
	s, err := OpenSnapshots(dir, 2, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stateOf(index uint64) []byte {
	return bytes.Repeat([]byte{byte(index), 'x', byte(index >> 8)}, 400)
}

// takeSnapshot writes one at index and returns its directory.
func takeSnapshot(t *testing.T, dir string, index, term uint64) string {
	t.Helper()
	s := openSnaps(t, dir)
	_, tr := raft.NewInmemTransport("n1")
	sink, err := s.Create(raft.SnapshotVersionMax, index, term, threeServers, 1, tr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sink.Write(stateOf(index)); err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(sink.Close(), sink.Close()); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(s.dir, sink.ID())
}

func TestSnapshotsComeBackAsWritten(t *testing.T) {
	dir := t.TempDir()
	takeSnapshot(t, dir, 100, 2)
	takeSnapshot(t, dir, 300, 3)
	s := openSnaps(t, dir)
	list, err := s.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	for i, index := range []uint64{300, 100} {
		m, r, err := s.Open(list[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		r.Close()
		if err != nil || !bytes.Equal(got, stateOf(index)) || m.Index != index || m.Size != int64(len(got)) || list[i].Size != m.Size {
			t.Fatalf("%d: %d bytes, meta %+v: %v", index, len(got), m, err)
		}
	}
	sound, err := CheckSnapshots(dir)
	if err != nil || len(sound) != 2 || sound[0].Index != 300 || sound[0].Term != 3 || sound[0].Damage != nil || sound[1].Damage != nil {
		t.Fatalf("%+v %v", sound, err)
	}
}

func TestNoSnapshotsIsAnAnswer(t *testing.T) {
	if list, err := CheckSnapshots(t.TempDir()); err != nil || list == nil || len(list) != 0 {
		t.Fatalf("%v %v", list, err)
	}
}

func TestUnfinishedSnapshotsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	s := openSnaps(t, dir)
	_, tr := raft.NewInmemTransport("n1")
	sink, err := s.Create(raft.SnapshotVersionMax, 5, 1, threeServers, 1, tr)
	if err != nil {
		t.Fatal(err)
	}
	openSnaps(t, dir)
	left, err := os.ReadDir(s.dir)
	if err != nil || len(left) != 0 {
		t.Fatalf("%v %v", left, err)
	}
	sink.Cancel()
	if _, err := OpenSnapshots(dir, 1, nil); err == nil {
		t.Fatal("retain 1 was taken")
	}
}

// Every flipped bit of both files is seen, or changes nothing. The library's
// own sum does not cover meta.json: index, term, configuration.
func TestEveryFlippedByteOfASnapshot(t *testing.T) {
	dir := t.TempDir()
	path := takeSnapshot(t, dir, 1000, 7)
	s := openSnaps(t, dir)
	want, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	harmless := 0
	for _, name := range []string{metaName, stateName} {
		file := filepath.Join(path, name)
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for at := range good {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << (at * 5 % 8)
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			harmless += judgeSnapshot(t, s, dir, path, want[0], name, at)
		}
		if err := os.WriteFile(file, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d flips changed nothing", harmless)
}

func judgeSnapshot(t *testing.T, s *SnapshotStore, dir, path string, want *raft.SnapshotMeta, name string, at int) int {
	t.Helper()
	list, err := CheckSnapshots(dir)
	if err != nil || len(list) != 1 || list[0].Index != 1000 || list[0].Term != 7 {
		t.Fatalf("%s byte %d: %+v %v", name, at, list, err)
	}
	m, r, err := s.Open(filepath.Base(path))
	if (err == nil) && list[0].Damage != nil {
		r.Close()
		return 0 // CheckSnapshots is the stricter one
	}
	if err != nil {
		if !errors.Is(err, ErrDamaged) || !errors.Is(list[0].Damage, ErrDamaged) {
			t.Fatalf("%s byte %d: Open: %v, CheckSnapshots: %v", name, at, err, list[0].Damage)
		}
		return 0
	}
	got, err := io.ReadAll(r)
	r.Close()
	same := m.Index == want.Index && m.Term == want.Term && m.ConfigurationIndex == want.ConfigurationIndex && m.Size == want.Size &&
		bytes.Equal(raft.EncodeConfiguration(m.Configuration), raft.EncodeConfiguration(want.Configuration))
	if err != nil || !same || !bytes.Equal(got, stateOf(1000)) {
		t.Fatalf("%s byte %d: SILENT: %+v", name, at, m)
	}
	return 1
}

func damageState(t *testing.T, path string) {
	t.Helper()
	if err := os.Truncate(filepath.Join(path, stateName), 700); err != nil {
		t.Fatal(err)
	}
}

// A damaged newest snapshot: replaced where the log reaches from the older one
// past it, refused everywhere else.
func TestDamagedSnapshotAgainstTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		older, from, to uint64 // 0: no older snapshot
		ok              bool
	}{
		"log covers":                       {100, 50, 300, true},
		"log begins right behind":          {100, 101, 200, true},
		"gap behind the older":             {100, 102, 300, false},
		"log ends before the damaged":      {100, 50, 199, false},
		"empty log":                        {100, 0, 0, false},
		"no older, log from the beginning": {0, 1, 250, true},
		"no older, log was shortened":      {0, 2, 250, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			if c.to > 0 {
				store(t, s, c.from, c.to, 1)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if c.older > 0 {
				takeSnapshot(t, dir, c.older, 1)
			}
			bad := takeSnapshot(t, dir, 200, 1)
			damageState(t, bad)
			err := openWithSnapshots(t, dir, c.from, c.to)
			if c.ok {
				if err != nil {
					t.Fatal(err)
				}
				checkAside(t, dir, bad, c.older)
			} else if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(bad)) || strings.Contains(err.Error(), "\n") {
				t.Fatal(err)
			}
		})
	}
}

func openWithSnapshots(t *testing.T, dir string, from, to uint64) error {
	t.Helper()
	o := quiet(dir, &deaths{})
	var err error
	if o.Snapshots, err = CheckSnapshots(dir); err != nil {
		t.Fatal(err)
	}
	s, err := Open(o)
	if err != nil {
		return err
	}
	defer s.Close()
	expect(t, s, from, to, always(1))
	return nil
}

func checkAside(t *testing.T, dir, bad string, older uint64) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, asideDir, filepath.Base(bad), metaName)); err != nil {
		t.Fatal(err)
	}
	list, err := CheckSnapshots(dir)
	if err != nil || len(list) != int(min(older, 1)) || len(list) == 1 && (list[0].Index != older || list[0].Damage != nil) {
		t.Fatalf("%+v %v", list, err)
	}
}

// Rule 3: a log that the newest snapshot replaces is emptied; one that begins after it cannot be.
func TestLogAgainstASoundSnapshot(t *testing.T) {
	for name, c := range map[string]struct {
		from, to, term uint64 // log
		want           string
	}{
		"behind":             {1, 150, 1, "emptied"},
		"ends at it":         {100, 200, 1, "kept"},
		"goes past it":       {150, 300, 1, "kept"},
		"another history":    {150, 300, 3, "emptied"},
		"begins right after": {201, 300, 5, "kept"},
		"gap":                {202, 300, 1, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			store(t, s, c.from, c.to, c.term)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			takeSnapshot(t, dir, 200, 1)
			o := quiet(dir, &deaths{})
			o.Snapshots, _ = CheckSnapshots(dir)
			s, err := Open(o)
			if c.want == "refused" {
				if !errors.Is(err, ErrDamaged) {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "emptied" {
				expect(t, s, 0, 0, nil)
				store(t, s, 201, 202, 6)
				c.from, c.to, c.term = 201, 202, 6
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = mustOpen(t, o)
			expect(t, s, c.from, c.to, always(c.term))
		})
	}
}

func TestMissingDatabaseBesideSnapshotsIsDamage(t *testing.T) {
	dir := t.TempDir()
	takeSnapshot(t, dir, 10, 1)
	o := quiet(dir, &deaths{})
	o.Snapshots, _ = CheckSnapshots(dir)
	if _, err := Open(o); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
}
