package spectest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// claim is one rule as a test.
type claim struct {
	id  string
	run func(*testing.T, *world)
}

// claims are all of them.
func claims() (all []claim) {
	for _, part := range [][]claim{waits, deadLetters, revivals, logs, stepFields, states, settings, once} {
		all = append(all, part...)
	}
	return all
}

// TestSpec runs the claims, several at once: most of them wait.
func TestSpec(t *testing.T) {
	w := startWorld(t)
	t.Run("all", func(t *testing.T) {
		for _, c := range claims() {
			t.Run(c.id, func(t *testing.T) {
				t.Parallel()
				c.run(t, w.in(t))
			})
		}
	})
}

const root = "../../.."

const indexFile = root + "/docs/workflows-index.md"

var rowForm = regexp.MustCompile(`(?m)^\| (W[SP]-[A-Z0-9]+(?:\.\d+)+) \| [^|]+ \| ([^|]+) \|$`)

// TestIndex keeps the index and the claims together, and finds the tests that it names in
// other packages.
func TestIndex(t *testing.T) {
	text, err := os.ReadFile(indexFile)
	if err != nil {
		t.Fatal(err)
	}
	rows, tested := map[string]string{}, map[string]bool{}
	for _, m := range rowForm.FindAllStringSubmatch(string(text), -1) {
		if _, twice := rows[m[1]]; twice {
			t.Errorf("%s: %s stands there twice", indexFile, m[1])
		}
		rows[m[1]] = m[2]
	}
	if lines := strings.Count(string(text), "\n| W"); lines != len(rows) || lines < 60 {
		t.Errorf("%s: %d rows, of which %d can be read", indexFile, lines, len(rows))
	}
	for _, c := range claims() {
		if rows[c.id] != "TestSpec" {
			t.Errorf("%s has a test, and in the index %q", c.id, rows[c.id])
		}
		if tested[c.id] {
			t.Errorf("%s has two tests", c.id)
		}
		tested[c.id] = true
	}
	for id, state := range rows {
		switch {
		case state == "-":
		case state == "TestSpec":
			if !tested[id] {
				t.Errorf("%s has no test", id)
			}
		case !exists(t, state):
			t.Errorf("%s: there is no %s", id, state)
		}
	}
}

// exists tells whether a folder has a test of that name: "folder: TestName" of Go, or
// "folder: a name" of a JavaScript program.
func exists(t *testing.T, place string) bool {
	t.Helper()
	folder, name, _ := strings.Cut(place, ": ")
	for _, pattern := range []string{"*_test.go", "*.mjs"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") || strings.Contains(string(text), `test("`+name+`"`) {
				return true
			}
		}
	}
	return false
}
