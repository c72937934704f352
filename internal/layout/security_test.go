package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// claimsUntil are the pages whose claims name their tests, with the heading from which they make no more.
var claimsUntil = map[string]string{"security.md": "\n## Out of scope", "tenancy.md": "\n## Tests"}

var (
	testName = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	// claimStart begins a claim: an item of a list, or a row of a table that has a column of tests.
	claimStart = regexp.MustCompile(`(?m)^(?:- |\| )`)
)

// TestClaimsHaveTests verifies that every claim of docs/security.md and docs/tenancy.md names a test, and that the tests exist.
func TestClaimsHaveTests(t *testing.T) {
	tests := declaredTests(t)
	for page, end := range claimsUntil {
		text, err := os.ReadFile(filepath.Join(root, "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testName.FindAllStringSubmatch(string(text), -1) {
			if !tests[m[1]] {
				t.Errorf("docs/%s names %s, which is no test", page, m[1])
			}
		}
		head, _, found := strings.Cut(string(text), end)
		list := claims(head)
		if !found || len(list) < 20 {
			t.Fatalf("docs/%s has %d claims before %q", page, len(list), end)
		}
		for _, claim := range list {
			if !testName.MatchString(claim) {
				t.Errorf("docs/%s: a claim without a test: %.80q", page, claim)
			}
		}
	}
}

// claims returns the items of the lists of a text, and the rows of those of its tables that have a column of tests.
func claims(text string) (all []string) {
	for _, block := range strings.Split(text, "\n\n") {
		table := strings.HasPrefix(block, "|")
		if table && !strings.Contains(block, "| Tests |") || !table && !strings.HasPrefix(block, "- ") {
			continue
		}
		starts := claimStart.FindAllStringIndex(block, -1)
		for i, at := range starts {
			end := len(block)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			if claim := block[at[1]:end]; !table || !strings.HasPrefix(claim, "Resource |") {
				all = append(all, claim)
			}
		}
	}
	return all
}

// declaredTests are the names of all tests and fuzz targets.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			tests[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

func TestClaims(t *testing.T) {
	got := claims("Text.\n\n- One. `TestA`\n- Two\n  lines.\n\n| a | b |\n|---|---|\n| no | claim |\n\n| Resource | Tests |\n|---|---|\n| keys | `TestB` |\n| users | |")
	want := []string{"One. `TestA`\n", "Two\n  lines.", "keys | `TestB` |\n", "users | |"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
