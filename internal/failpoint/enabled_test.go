//go:build failpoints

package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMain lets this binary be its own victim: with VICTIM set it evaluates that
// point once and ends.
func TestMain(m *testing.M) {
	if name := os.Getenv("VICTIM"); name != "" {
		Eval(name)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func victim(t *testing.T, point, spec string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "VICTIM="+point, EnvSpec+"="+spec)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func TestActionsOfAProcess(t *testing.T) {
	for _, c := range []struct {
		spec string
		code int
	}{
		{"", 0},
		{AfterFsync + "=off", 0},
		{AfterFsync + "=exit", ExitCode},
		{AfterFsync + "=panic", 2},
		{AfterFsync + "=0*exit", 0},
		{MidRestore + "=exit", 0},
		{AfterFsync + "=nonsense", ExitCode},
	} {
		if got := victim(t, AfterFsync, c.spec); got != c.code {
			t.Errorf("%q: exit code %d, want %d", c.spec, got, c.code)
		}
	}
}

func TestSleepAndBudget(t *testing.T) {
	r := load("p=1*sleep(30ms)", "")
	start := time.Now()
	r.eval("p")
	if d := time.Since(start); d < 30*time.Millisecond {
		t.Fatalf("slept %v, want at least 30ms", d)
	}
	if _, again := r.take("p"); again {
		t.Fatal("the budget of one was spent twice")
	}
}

func TestFileArmsARunningProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "points")
	r := load("", file)
	if _, armed := r.take("p"); armed {
		t.Fatal("armed before the file exists")
	}
	write := func(spec string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(file, []byte(spec), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		r.looked = time.Time{} // the next look is due
		r.mu.Unlock()
	}
	now := time.Now()
	write("p=sleep(1ms)", now)
	if _, armed := r.take("p"); !armed {
		t.Fatal("the file was not read")
	}
	write("p=broken(", now.Add(time.Second))
	if _, armed := r.take("p"); !armed {
		t.Fatal("a broken file disarmed what was armed")
	}
	write("p=off", now.Add(2*time.Second))
	if a, _ := r.take("p"); a.kind != doNothing {
		t.Fatal("off did not disarm")
	}
}
