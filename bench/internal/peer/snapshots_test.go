package peer

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestSnapshotsInADirectory(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"2-10-1": 100, "2-20-2.tmp": 30} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "state.bin"), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "2-30-3.tmp"), 0o755); err != nil { // begun a moment ago
		t.Fatal(err)
	}
	got, err := snapshotsIn(dir)
	if err != nil || !maps.Equal(got, map[string]int64{"2-10-1": 100, "2-20-2": 30}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := snapshotsIn(filepath.Join(dir, "none")); err != nil || len(got) > 0 {
		t.Errorf("without a directory: %v, %v", got, err)
	}
}
