package proc

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrittenCountsWhatIsSynced(t *testing.T) {
	dir := t.TempDir()
	before, err := Written(dir)
	if err != nil {
		t.Skip(err) // a file system in memory
	}
	const size = 4 << 20
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := Written(dir)
	if err != nil || after-before < size {
		t.Errorf("%d bytes after a file of %d, %v", after-before, size, err)
	}
}
