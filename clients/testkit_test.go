package clients_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// inTestkit runs a program in a folder of the testkit, with the server that is built of this tree.
func inTestkit(t *testing.T, binary, folder, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	program := exec.CommandContext(ctx, name, args...)
	program.Dir = filepath.Join("testkit", folder)
	program.Env = append(os.Environ(), "TRIREME_BIN="+binary, "PYTHONDONTWRITEBYTECODE=1", "NO_COLOR=1")
	if output, err := program.CombinedOutput(); err != nil {
		t.Errorf("%s %q: %v\n%s", name, args, err, output)
	}
}

// The examples of docs/testing.md run: in TypeScript with Vitest and published clients, and in Python without any package.
func TestTestkit(t *testing.T) {
	binary, err := testcluster.Build(t.TempDir(), testcluster.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("python", func(t *testing.T) {
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skipf("the example in Python needs python3: %v", err)
		}
		inTestkit(t, binary, "python", "python3", "-m", "unittest", "-q")
	})
	t.Run("types", func(t *testing.T) {
		install(t)
		inTestkit(t, binary, "", "node_modules/.bin/tsc", "-p", "tsconfig.check.json")
	})
	t.Run("vitest", func(t *testing.T) {
		install(t)
		inTestkit(t, binary, "", "node_modules/.bin/vitest", "run")
	})
}

// docs/testing.md shows the examples as they run.
func TestTestingDocumentShowsTheExamples(t *testing.T) {
	document, err := os.ReadFile("../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("testkit/examples/*.test.ts")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, "testkit/python/test_reminders.py", "testkit/jest/reminders.test.mjs") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "year.test.ts") {
			continue // what it tests is said, but nobody has to read it
		}
		language := map[string]string{".ts": "ts", ".mjs": "js", ".py": "python"}[filepath.Ext(path)]
		if block := "```" + language + "\n" + string(text) + "```\n"; !bytes.Contains(document, []byte(block)) {
			t.Errorf("docs/testing.md doesn't contain %s as it is", path)
		}
	}
}
