package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// processes are those of a disk, the first of them its first start.
func processes(names ...string) (i introduction) {
	i.disk = "d"
	for n, name := range names {
		i.processes = append(i.processes, started{uint64(n + 1), name})
	}
	return i
}

// many are more processes than a disk remembers.
func many(count int) introduction {
	i := introduction{disk: "d"}
	for n := range count {
		i.processes = append(i.processes, started{uint64(n + 1), "a"})
	}
	i.processes = i.processes[max(count-keptProcesses, 0):]
	return i
}

// TestAcquaintances: a process is taken if its disk remembers the last one that was here, or has had too many since; also
// by a node that has been started anew in between.
func TestAcquaintances(t *testing.T) {
	dir, boot := t.TempDir(), uint64(0)
	for _, c := range []struct {
		name string
		who  introduction
		ok   bool
	}{
		{"the first", processes("a"), true},
		{"the same again", processes("a"), true},
		{"one after others that were never here", processes("a", "b", "c"), true},
		{"an earlier one", processes("a", "b"), false},
		{"the first, late", processes("a"), false},
		{"one that counts the same", processes("a", "b", "x"), false},
		{"one of an old copy that was started often", processes("a", "b", "x", "y", "z"), false},
		{"the third again", processes("a", "b", "c"), true},
		{"one that remembers nothing", introduction{"d", []started{{9, "n"}}}, false},
		{"one that doesn't introduce itself", introduction{disk: "d"}, true},
		{"one after more starts than a disk remembers", many(keptProcesses + 9), true},
		{"one of another disk", introduction{"other", []started{{1, "o"}}}, true},
	} {
		boot++
		a, err := openAcquaintances(dir, boot, "me", func(string, ...any) {})
		if err != nil {
			t.Fatal(err)
		}
		if err = a.meet("n2", c.who); (err == nil) != c.ok || !c.ok && !errors.Is(err, ErrRolledBack) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := a.meet("n3", processes("other")); err != nil {
			t.Errorf("another node: %v", err)
		}
	}
}

// TestDamagedAcquaintances: with any bit of the file flipped it is refused, or read as it was: never is a good node taken
// for an old copy.
func TestDamagedAcquaintances(t *testing.T) {
	dir := t.TempDir()
	a, err := openAcquaintances(dir, 3, "me", func(string, ...any) {})
	if err == nil {
		err = a.meet("n2", processes("a"))
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, acquaintancesFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for bit := range 8 * len(good) {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := readAcquaintances(path)
		switch {
		case err != nil:
			refused++
		case len(r.Nodes) != 1 || r.Nodes["n2"].started != (started{1, "a"}) || len(r.Mine) != 1:
			t.Fatalf("bit %d flipped: read as %+v", bit, r)
		}
	}
	if refused < 4*len(good) {
		t.Fatalf("only %d of %d flips were refused", refused, 8*len(good))
	}
}
