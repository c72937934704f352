package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMissingProgramsAreNamed runs scripts/test.sh where only the shell's own tools and a stub of go are: what is missing is named
// with what to install, and the tests run all the same, without the race detector.
func TestMissingProgramsAreNamed(t *testing.T) {
	dir := t.TempDir()
	for _, tool := range []string{"bash", "grep", "dirname"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip("no " + tool)
		}
		if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
			t.Fatal(err)
		}
	}
	// A package below jepsen/ is tested without gotestsum.
	stub := "#!" + filepath.Join(dir, "bash") + "\ncase $1 in list) echo github.com/trireme-dev/trireme/jepsen/x ;; *) echo \"go $* CGO_ENABLED=$CGO_ENABLED\" ;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(dir, "bash"), filepath.Join(root, "scripts/test.sh"))
	c.Env = []string{"PATH=" + dir}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{
		"skipped without npm: tests with JavaScript clients (Debian: apt-get install nodejs npm)\n", "skipped without redis-server: ", "apt-get install redis-server)\n",
		"skipped without redis-cli: ", "skipped without gcc: the race detector", "apt-get install gcc libc6-dev)\n", "go test -tags nomsgpack,hashicorpmetrics ", "/jepsen/x CGO_ENABLED=0\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "-race") {
		t.Errorf("the race detector without gcc:\n%s", out)
	}
}
