package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// No word is used that a term of the field has replaced: scripts/terms.txt lists them.
func TestTerms(t *testing.T) {
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("the words are looked for among the files that git knows")
	}
	terms := exec.CommandContext(t.Context(), "scripts/terms.sh")
	terms.Dir = root
	if output, err := terms.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
