package poison

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
)

// victimDir names the environment variable that makes this binary a process which ends in the middle of an apply.
const victimDir = "POISON_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		m, err := Open(dir)
		if err != nil {
			panic(err)
		}
		if _, is := m.Poison(); is {
			os.Exit(7)
		}
		*m.Progress() = fsm.Progress{Index: 812, Request: 3, Database: 5}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	os.Exit(m.Run())
}

// TestMarkOutlivesAKill ends real processes by SIGKILL in the middle of an entry. The third process finds that in the mark.
func TestMarkOutlivesAKill(t *testing.T) {
	dir := t.TempDir()
	var codes []int
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victimDir+"="+dir)
		_ = cmd.Run()
		codes = append(codes, cmd.ProcessState.ExitCode())
	}
	if want := []int{-1, -1, 7, 7}; !reflect.DeepEqual(codes, want) {
		t.Fatalf("exit codes %v, want %v", codes, want)
	}
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if at, is := m.Poison(); !is || at != (fsm.Progress{Index: 812, Request: 3, Database: 5}) || !m.Suspect(812) || m.Suspect(811) {
		t.Errorf("poison at %+v %v", at, is)
	}
}

// TestMarkCounts follows what processes leave behind.
func TestMarkCounts(t *testing.T) {
	dir := t.TempDir()
	for i, c := range []struct {
		leaves uint64 // the entry at which the process ends, 0 for none
		forget bool   // it has applied the suspect
		poison bool   // as it is told at its start
	}{
		{leaves: 5}, {leaves: 6}, {leaves: 5}, {leaves: 0}, {leaves: 5}, {leaves: 0, poison: true}, {leaves: 0, poison: true, forget: true},
		{leaves: 5}, {leaves: 9, forget: true}, {leaves: 9}, {leaves: 0, poison: true},
	} {
		m, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := m.Poison(); is != c.poison {
			t.Errorf("process %d: poison %v", i, is)
		}
		if c.forget {
			m.Forget()
		}
		m.Progress().Index = c.leaves
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m.Progress().Index = 1 // of nobody any more
	}
}

// TestMarkOfAnotherForm: a file that is no mark of this version is replaced by a new mark.
func TestMarkOfAnotherForm(t *testing.T) {
	for _, content := range []string{"", "short", string(make([]byte, pageSize)), "this is no mark at all, however long it is, and has ended nobody yet"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, markFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := m.Poison(); is || m.Suspect(0) {
			t.Errorf("%.10q is poison", content)
		}
		m.Progress().Index = 3
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOrders(t *testing.T) {
	dir := t.TempDir()
	o, err := ReadOrders(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := fsm.QuarantineOrder{Database: "a", Number: 1, Index: 7}, fsm.QuarantineOrder{Database: "b", Number: 2, Index: 7}, fsm.QuarantineOrder{Database: "a", Number: 1, Index: 9}
	for _, n := range []fsm.QuarantineOrder{a, b, c} {
		if err := o.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	if o, err = ReadOrders(dir); err != nil {
		t.Fatal(err)
	}
	if got := o.At(7); !reflect.DeepEqual(got, []fsm.QuarantineOrder{a, b}) || !o.Has(c) || o.Has(fsm.QuarantineOrder{Database: "a", Number: 3, Index: 9}) || o.At(8) != nil {
		t.Errorf("orders %+v", got)
	}
	if err := o.Applied(8); err != nil {
		t.Fatal(err)
	}
	if o, err = ReadOrders(dir); err != nil || o.Has(a) || o.Has(b) || !o.Has(c) {
		t.Errorf("orders %+v, %v", o, err)
	}
	if err := os.WriteFile(filepath.Join(dir, ordersFile), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadOrders(dir); err == nil {
		t.Error("a damaged file was read")
	}
}
