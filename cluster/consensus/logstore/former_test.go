package logstore

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
)

// former returns a copy of a directory that version 0.2.0 has left: entries 21..205, of term 2 from 101 on, a term and
// a vote; closed in order, or killed with the newest entries in the journal.
func former(t *testing.T, kind string) string {
	t.Helper()
	return copyNode(t, filepath.Join("testdata", "former", kind))
}

func formerTerm(i uint64) uint64 { return 1 + min(i/101, 1) }

func checkFormer(t *testing.T, s *Store) {
	t.Helper()
	expect(t, s, 21, 205, formerTerm)
	term, err := s.GetUint64([]byte("CurrentTerm"))
	vote, err2 := s.Get([]byte("LastVoteCand"))
	if err != nil || err2 != nil || term != 2 || string(vote) != "n3" {
		t.Fatalf("term %d (%v), vote %q (%v)", term, err, vote, err2)
	}
}

// openFormer opens a directory of version 0.2.0, checks it, and closes it in order.
func openFormer(t *testing.T, dir string) {
	t.Helper()
	s := open(t, dir)
	checkFormer(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFormerDirectoriesAreUpgraded opens directories of version 0.2.0: everything is there, the former files are gone, and the log goes on.
func TestFormerDirectoriesAreUpgraded(t *testing.T) {
	for _, kind := range []string{"orderly", "crashed"} {
		dir := former(t, kind)
		for range 2 {
			openFormer(t, dir)
		}
		if there, err := exists(filepath.Join(dir, formerJournal)); there || err != nil {
			t.Errorf("%s: the journal is still there (%v)", kind, err)
		}
		if index, _, err := readFormerMark(filepath.Join(dir, formerMark)); index != elsewhere || err != nil {
			t.Errorf("%s: the former version's mark is %d (%v), which does not keep it out", kind, index, err)
		}
		if tree, err := readTreeOf(dbPath(dir)); err != nil || tree.last != 0 {
			t.Errorf("%s: the database still has entries up to %d (%v)", kind, tree.last, err)
		}
		s := open(t, dir)
		store(t, s, 206, 210, 3)
		if last, _ := s.LastIndex(); last != 210 {
			t.Errorf("%s: the log ends at %d, want 210", kind, last)
		}
	}
}

// TestNewDirectoriesAreMarked: version 0.2.0 would take a directory that never was its own for one with an empty log, too.
func TestNewDirectoriesAreMarked(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if index, _, err := readFormerMark(filepath.Join(dir, formerMark)); index != elsewhere || err != nil {
		t.Errorf("the mark is %d (%v), want %d", index, err, uint64(elsewhere))
	}
}

// TestInterruptedUpgrade ends the upgrade after each of its steps: the next start does it again or goes on.
func TestInterruptedUpgrade(t *testing.T) {
	for name, leave := range map[string]func(dir, done string) error{
		"the new log is not whole": func(dir, done string) error {
			return os.CopyFS(filepath.Join(dir, newLogDir), os.DirFS(filepath.Join(done, logDir)))
		},
		"the database has the log, too": func(dir, done string) error {
			return os.CopyFS(filepath.Join(dir, logDir), os.DirFS(filepath.Join(done, logDir)))
		},
		"the former version has gone on since the log was written": func(dir, _ string) error {
			return leaveLog(filepath.Join(dir, logDir), true)
		},
		"the former files are there": func(dir, done string) error {
			b, err := os.ReadFile(dbPath(done))
			return cmp.Or(err, os.CopyFS(filepath.Join(dir, logDir), os.DirFS(filepath.Join(done, logDir))),
				copyFile(done, dir, formerMark), os.WriteFile(dbPath(dir), b, 0o600))
		},
		"the directory is marked": func(dir, done string) error {
			return cmp.Or(os.CopyFS(filepath.Join(dir, logDir), os.DirFS(filepath.Join(done, logDir))), copyFile(done, dir, formerMark))
		},
	} {
		t.Run(name, func(t *testing.T) {
			done, dir := former(t, "crashed"), former(t, "crashed")
			if err := open(t, done).Close(); err != nil {
				t.Fatal(err)
			}
			if err := leave(dir, done); err != nil {
				t.Fatal(err)
			}
			checkFormer(t, open(t, dir))
		})
	}
}

func copyFile(from, to, name string) error {
	b, err := os.ReadFile(filepath.Join(from, name))
	return cmp.Or(err, os.WriteFile(filepath.Join(to, name), b, 0o600))
}

// TestWriteFormer takes directories back to the former format: nothing of this one is left there, the former mark stands where the log
// ends, and the next start has everything.
func TestWriteFormer(t *testing.T) {
	for _, kind := range []string{"orderly", "crashed"} {
		dir := former(t, kind)
		for range 2 {
			openFormer(t, dir)
			first, last, err := WriteFormer(quiet(dir, &deaths{}))
			if err != nil || first != 21 || last != 205 {
				t.Fatalf("%s: entries %d..%d, %v; want 21..205", kind, first, last, err)
			}
			if index, term, err := readFormerMark(filepath.Join(dir, formerMark)); index != 205 || term != 2 || err != nil {
				t.Errorf("%s: the mark is %d of term %d (%v)", kind, index, term, err)
			}
			tree, err := readTreeOf(dbPath(dir))
			if err != nil || tree.first != 21 || tree.last != 205 || string(tree.conf[formerCleanKey]) != "1" {
				t.Errorf("%s: the database has entries %d..%d and values %q (%v)", kind, tree.first, tree.last, tree.conf, err)
			}
			for _, name := range []string{logDir, stableMark} {
				if there, err := exists(filepath.Join(dir, name)); there || err != nil {
					t.Errorf("%s: %s is still there (%v)", kind, name, err)
				}
			}
		}
	}
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if first, last, err := WriteFormer(quiet(dir, &deaths{})); first != 0 || last != 0 || err != nil {
		t.Errorf("an empty log: %d..%d, %v", first, last, err)
	}
	open(t, dir)
}

// TestInterruptedWriteFormer ends the way back after each of its steps: the directory opens as it was.
func TestInterruptedWriteFormer(t *testing.T) {
	for name, leave := range map[string]func(dir, done string) error{
		"the database is not in its place": func(dir, done string) error {
			b, err := os.ReadFile(dbPath(done))
			return cmp.Or(err, os.Remove(filepath.Join(dir, stableMark)), os.WriteFile(filepath.Join(dir, newFile), b[:len(b)/2], 0o600))
		},
		"the mark is missing": func(dir, done string) error {
			return cmp.Or(os.Remove(filepath.Join(dir, stableMark)), copyFile(done, dir, dbFile))
		},
		"the log is still there": func(dir, done string) error {
			return cmp.Or(os.Remove(filepath.Join(dir, stableMark)), copyFile(done, dir, dbFile), copyFile(done, dir, formerMark))
		},
	} {
		t.Run(name, func(t *testing.T) {
			done, dir := former(t, "orderly"), former(t, "orderly")
			for _, d := range []string{done, dir} {
				if err := open(t, d).Close(); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := WriteFormer(quiet(done, &deaths{})); err != nil {
				t.Fatal(err)
			}
			if err := leave(dir, done); err != nil {
				t.Fatal(err)
			}
			checkFormer(t, open(t, dir))
		})
	}
}

// TestDamageOfFormerDirectories flips bits of the former files: the directory is refused, or everything is there.
func TestDamageOfFormerDirectories(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	refused := map[string]int{}
	for _, kind := range []string{"orderly", "crashed"} {
		for _, name := range []string{dbFile, formerJournal, formerMark} {
			for range 30 {
				dir := former(t, kind)
				path := filepath.Join(dir, name)
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				s, err := Open(quiet(dir, &deaths{}))
				if err == nil {
					checkFormer(t, s)
					s.Close()
				} else if refused[name]++; !errors.Is(err, ErrDamaged) {
					t.Errorf("%s, %s: refused, but not as damaged: %v", kind, name, err)
				}
			}
		}
	}
	if refused[formerMark] != 60 || refused[dbFile] == 0 {
		t.Errorf("refused: %v, want every mark and some others", refused)
	}
	dir := former(t, "crashed")
	if err := os.Remove(filepath.Join(dir, formerJournal)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(quiet(dir, &deaths{})); !errors.Is(err, ErrDamaged) {
		t.Errorf("without the journal: %v, want ErrDamaged", err)
	}
}

func FuzzFormerJournal(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata", "former", "crashed", formerJournal))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:4*headerRoom], uint64(3))
	f.Fuzz(func(t *testing.T, b []byte, moved uint64) {
		if logs, err := scanJournal(b, moved); err == nil {
			for i, l := range logs {
				if l.Index != logs[0].Index+uint64(i) {
					t.Fatal("a gap")
				}
			}
		}
		_, _ = decodeEntries(nil, b)
		_, _ = journalHalf{salt: moved, records: b}.scan(nil)
		unseal(&raft.Log{Extensions: b})
	})
}
