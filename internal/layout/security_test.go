package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestClaimsOfSecurityHaveTests finds every test that docs/security.md names, and a test for every claim.
func TestClaimsOfSecurityHaveTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
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
	named := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	for _, m := range named.FindAllSubmatch(text, -1) {
		if !tests[string(m[1])] {
			t.Errorf("docs/security.md names %s, which is no test", m[1])
		}
	}
	claims, _, _ := strings.Cut(string(text), "\n## Out of scope")
	for _, claim := range strings.Split(claims, "\n- ")[1:] {
		claim, _, _ = strings.Cut(claim, "\n\n")
		if !named.MatchString(claim) && !strings.Contains(claim, "](") {
			t.Errorf("docs/security.md: a claim without a test: %.80q", claim)
		}
	}
}
