package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// runTestScript runs scripts/test.sh in a mode where only the shell's own tools and a stub of go are, whose body is given.
// Each call of the stub is a line of calls. The programs that are present do nothing.
func runTestScript(t *testing.T, mode, stub string, present ...string) (out string, calls []string, err error) {
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
	for _, name := range present {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "calls")
	stub = "#!" + filepath.Join(dir, "bash") + "\necho \"go $* CGO_ENABLED=$CGO_ENABLED\" >>" + log + "\n" + stub
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(dir, "bash"), filepath.Join(root, "scripts/test.sh"), mode)
	c.Env = []string{"PATH=" + dir, "TMPDIR=" + dir}
	b, err := c.CombinedOutput()
	lines, readErr := os.ReadFile(log)
	if readErr != nil {
		t.Fatalf("%v: %s", readErr, b)
	}
	return string(b), strings.Split(strings.TrimSpace(string(lines)), "\n"), err
}

// listed is the part of the stub that answers go list.
const listed = `case $1 in list) for p in fsm/command fsm/keyspace fsm/script/lua httpapi; do echo github.com/trireme-dev/trireme/$p; done; exit ;; esac
`

// TestMissingProgramsAreNamed verifies that what is missing is named with what to install, and that the tests run all
// the same, without the race detector.
func TestMissingProgramsAreNamed(t *testing.T) {
	out, calls, err := runTestScript(t, "race", listed)
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
	if got := strings.Join(calls, "\n"); strings.Contains(got, "-race") || strings.Count(got, "CGO_ENABLED=0") != len(calls) {
		t.Errorf("without a C compiler the script calls\n%s", got)
	}
}

// TestEachPackageIsTestedOnce verifies which packages scripts/test.sh tests, and how.
func TestEachPackageIsTestedOnce(t *testing.T) {
	const at = " github.com/trireme-dev/trireme/"
	for mode, want := range map[string]string{
		"test": "-short -p 2 -timeout 40m -vet=off" + at + "fsm/command" + at + "fsm/keyspace" + at + "fsm/script/lua" + at + "httpapi",
		"race": "-race -p 2 -timeout 40m -vet=off" + at + "fsm/keyspace" + at + "httpapi",
	} {
		out, calls, err := runTestScript(t, mode, listed, "gcc")
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		want := []string{
			"go list -tags nomsgpack ./... CGO_ENABLED=",
			"go test -tags nomsgpack " + want + " CGO_ENABLED=",
		}
		if !slices.Equal(calls, want) {
			t.Errorf("the script calls\n%s\nwant\n%s", strings.Join(calls, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestFailuresCount verifies that one failure, wherever it is, fails the script, and that what failed stands at the end.
func TestFailuresCount(t *testing.T) {
	const failures = `--- FAIL: TestA (0.10s)
    --- FAIL: TestA/sub (0.10s)
FAIL	example.com/a	0.2s
WARNING: DATA RACE
panic: test timed out after 40m0s
FAIL	example.com/b [build failed]
`
	for mode, which := range map[string]string{"test": "fsm/command", "race": "trireme/httpapi"} {
		out, _, err := runTestScript(t, mode, listed+`case "$* " in *"`+which+`"*) echo "`+failures+`    a_test.go:1: why"; exit 1 ;; esac`)
		if err == nil {
			t.Errorf("%s: the script ended well after a failure:\n%s", which, out)
		}
		if want := "test: failed:\n" + failures; !strings.HasSuffix(out, want) || strings.Count(out, "a_test.go:1: why") != 1 {
			t.Errorf("%s: the end is not\n%s but\n%s", which, want, out)
		}
	}
}

var serialPackages = regexp.MustCompile(`(?m)^serial='(.*)'$`)

// sharesNothing are files that start goroutines all the same, with the reason why the race detector may be out.
var sharesNothing = map[string]string{
	"fsm/command/fidelity_origins_test.go": "serves commands over HTTP and RESP, as the tests of httpapi and resp do",
	"fsm/longread_test.go":                 "a benchmark",
	"fsm/replay_test.go":                   "machines of their own side by side, as in the tests of cluster",
	"jepsen/sim/search.go":                 "histories of their own side by side",
}

// TestRaceDetectorIsOnWhereItCanFind verifies that scripts/test.sh leaves the race detector out only where neither a package nor its
// tests start a goroutine that shares anything.
func TestRaceDetectorIsOnWhereItCanFind(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "scripts/test.sh"))
	if err != nil {
		t.Fatal(err)
	}
	m := serialPackages.FindSubmatch(script)
	if m == nil {
		t.Fatal("scripts/test.sh has no line serial='...'")
	}
	serial := regexp.MustCompile(string(m[1]))
	found := 0
	for _, f := range repository(t) {
		if !serial.MatchString("/trireme/"+f.Folder) || sharesNothing[f.Path] != "" {
			continue
		}
		found++
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, filepath.Join(root, f.Path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			concurrent := false
			switch x := n.(type) {
			case *ast.GoStmt:
				concurrent = true
			case *ast.CallExpr: // of a sync.WaitGroup or a testing.T
				if called, ok := x.Fun.(*ast.SelectorExpr); ok {
					of, _ := called.X.(*ast.Ident)
					concurrent = called.Sel.Name == "Go" || of != nil && (of.Name == "t" || of.Name == "b") && strings.HasSuffix(called.Sel.Name, "Parallel")
				}
			}
			if concurrent {
				t.Errorf("%s starts a goroutine: take its package out of serial= in scripts/test.sh", set.Position(n.Pos()))
			}
			return true
		})
	}
	if found < 300 {
		t.Errorf("only %d files are tested without the race detector", found)
	}
}

// TestLongRunsAreRunSomewhere: a test that skips itself in make test runs in make test-race, and so its package has to be there.
func TestLongRunsAreRunSomewhere(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "scripts/test.sh"))
	if err != nil {
		t.Fatal(err)
	}
	serial := regexp.MustCompile(string(serialPackages.FindSubmatch(script)[1]))
	found := 0
	for _, f := range repository(t) {
		source, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f.Path, "_test.go") || !strings.Contains(string(source), "testing."+"Short()") {
			continue
		}
		if found++; serial.MatchString("/trireme/" + f.Folder) {
			t.Errorf("%s skips itself in make test, and make test-race leaves its package out: see serial= in scripts/test.sh", f.Path)
		}
	}
	if found < 5 {
		t.Errorf("only %d files have long runs, want those of jepsen, scheduler and accept", found)
	}
}
