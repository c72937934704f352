package membership

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/trireme-dev/trireme/cluster/transport"
)

// processes returns the incarnation of a disk with these processes, the first of which was its first start.
func processes(names ...string) (i Incarnation) {
	i.Disk = "d"
	for n, name := range names {
		i.Processes = append(i.Processes, transport.Process{Boot: uint64(n + 1), Name: name})
	}
	return i
}

// many returns an incarnation with count processes, more than a disk remembers.
func many(count int) Incarnation {
	i := Incarnation{Disk: "d"}
	for n := range count {
		i.Processes = append(i.Processes, transport.Process{Boot: uint64(n + 1), Name: "a"})
	}
	i.Processes = i.Processes[max(count-KeptProcesses, 0):]
	return i
}

// TestIncarnations: a process is accepted if its disk remembers the last one that was here, or has had too many since;
// also by a node that was restarted in between.
func TestIncarnations(t *testing.T) {
	dir, boot := t.TempDir(), uint64(0)
	for _, c := range []struct {
		name string
		who  Incarnation
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
		{"one that remembers nothing", Incarnation{"d", []transport.Process{{Boot: 9, Name: "n"}}}, false},
		{"one that doesn't say who it is", Incarnation{Disk: "d"}, true},
		{"one after more starts than a disk remembers", many(KeptProcesses + 9), true},
		{"one of another disk", Incarnation{"other", []transport.Process{{Boot: 1, Name: "o"}}}, true},
	} {
		boot++
		a, err := openIncarnations(dir, transport.Process{Boot: boot, Name: "me"}, func(string, ...any) {})
		if err != nil {
			t.Fatal(err)
		}
		if err = a.Record("n2", c.who); (err == nil) != c.ok || !c.ok && !errors.Is(err, transport.ErrRolledBack) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err := a.Record("n3", processes("other")); err != nil {
			t.Errorf("another node: %v", err)
		}
	}
}

// TestDamagedIncarnationsAreRefused: with any bit flipped the file is refused, or read as it was. A good node is never
// taken for an old copy.
func TestDamagedIncarnationsAreRefused(t *testing.T) {
	dir := t.TempDir()
	a, err := openIncarnations(dir, transport.Process{Boot: 3, Name: "me"}, func(string, ...any) {})
	if err == nil {
		err = a.Record("n2", processes("a"))
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, incarnationsFile)
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
		r, err := readIncarnations(path)
		switch {
		case err != nil:
			refused++
		case len(r.Nodes) != 1 || r.Nodes["n2"].Process != (transport.Process{Boot: 1, Name: "a"}) || len(r.Mine) != 1:
			t.Fatalf("bit %d flipped: read as %+v", bit, r)
		}
	}
	if refused < 4*len(good) {
		t.Fatalf("only %d of %d flips were refused", refused, 8*len(good))
	}
}

// TestJudgeRecordsNothing: what a caller merely says of itself must not make the real process an older copy.
func TestJudgeRecordsNothing(t *testing.T) {
	a, err := openIncarnations(t.TempDir(), transport.Process{Boot: 1, Name: "me"}, func(string, ...any) {})
	if err != nil {
		t.Fatal(err)
	}
	forged := Incarnation{"d", []transport.Process{{Boot: 999, Name: "forged"}}}
	if err := a.Judge("n2", forged); err != nil {
		t.Fatalf("nothing is known of n2 yet: %v", err)
	}
	if err := a.Record("n2", processes("a")); err != nil {
		t.Fatalf("the real process is rejected after a forged claim: %v", err)
	}
	if err := a.Judge("n2", forged); !errors.Is(err, transport.ErrRolledBack) {
		t.Fatalf("a process that doesn't know its disk's last one: %v", err)
	}
}
