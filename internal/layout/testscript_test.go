package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runTestScript runs scripts/test.sh where only the shell's own tools and a stub of go are, whose body is given.
// Each call of the stub is a line of calls.
func runTestScript(t *testing.T, stub string) (out string, calls []string, err error) {
	dir := t.TempDir()
	for _, tool := range []string{"bash", "grep", "dirname", "mktemp", "tee", "rm"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip("no " + tool)
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "calls")
	stub = "#!" + filepath.Join(dir, "bash") + "\necho \"go $* CGO_ENABLED=$CGO_ENABLED\" >>" + log + "\n" + stub
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(dir, "bash"), filepath.Join(root, "scripts/test.sh"))
	c.Env = []string{"PATH=" + dir, "TMPDIR=" + dir}
	b, err := c.CombinedOutput()
	lines, readErr := os.ReadFile(log)
	if readErr != nil {
		t.Fatalf("%v: %s", readErr, b)
	}
	return string(b), strings.Split(strings.TrimSpace(string(lines)), "\n"), err
}

// TestMissingProgramsAreNamed verifies that what is missing is named with what to install, and that the tests run all
// the same, without the race detector.
func TestMissingProgramsAreNamed(t *testing.T) {
	out, calls, err := runTestScript(t, "")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		"skipped without npm: tests with JavaScript clients (Debian: apt-get install nodejs npm)\n", "skipped without redis-server: ", "apt-get install redis-server)\n",
		"skipped without redis-cli: ", "skipped without gcc: the race detector", "apt-get install gcc libc6-dev)\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if want := "go test -tags nomsgpack,hashicorpmetrics -p 2 -timeout 40m -vet=off ./... CGO_ENABLED=0"; calls[0] != want {
		t.Errorf("got %q, want %q", calls[0], want)
	}
}

// TestFailuresCount verifies that tests run once, that one failure fails the script, and that what failed stands at the end.
func TestFailuresCount(t *testing.T) {
	const failures = `--- FAIL: TestA (0.10s)
    --- FAIL: TestA/sub (0.10s)
FAIL	example.com/a	0.2s
WARNING: DATA RACE
panic: test timed out after 40m0s
FAIL	example.com/b [build failed]
`
	for run, stub := range map[string]string{
		"tests":       `case "$*" in "test "*TestAllocations*) ;; "test "*) echo "` + failures + `    a_test.go:1: why"; exit 1 ;; *) echo github.com/trireme-dev/trireme/httpapi ;; esac`,
		"allocations": `case "$*" in "test "*TestAllocations*) echo "` + failures + `    a_test.go:1: why"; exit 1 ;; "test "*) ;; *) echo github.com/trireme-dev/trireme/httpapi ;; esac`,
	} {
		out, calls, err := runTestScript(t, stub)
		if err == nil {
			t.Errorf("%s: the script ended well after a failure:\n%s", run, out)
		}
		if want := "test: failed:\n" + failures; !strings.HasSuffix(out, want) {
			t.Errorf("%s: the end is not\n%s but\n%s", run, want, out)
		}
		if len(calls) != 3 { // the tests, the list, and the allocations
			t.Errorf("%s: %d calls of go: %q", run, len(calls), calls)
		}
	}
}
