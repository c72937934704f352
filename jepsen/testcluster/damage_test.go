package testcluster

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Each damage changes one file, and the same seed the same way.
func TestDamage(t *testing.T) {
	flipped, torn := 0, 0
	for seed := range uint64(40) {
		var changed [2]string
		for i := range changed {
			n := &Node{ID: "n1", DataDir: t.TempDir()}
			whole := bytes.Repeat([]byte("x"), 100)
			for _, name := range []string{"a", "b"} {
				if err := os.WriteFile(filepath.Join(n.DataDir, name), whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			what, err := n.Damage(seed)
			if err != nil {
				t.Fatal(err)
			}
			different := 0
			for _, name := range []string{"a", "b"} {
				got, err := os.ReadFile(filepath.Join(n.DataDir, name))
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case len(got) < len(whole):
					different++
					torn++
				case !bytes.Equal(got, whole):
					different++
					flipped++
				}
			}
			if different != 1 {
				t.Fatalf("%s: %d files differ", what, different)
			}
			changed[i] = what
		}
		if changed[0] != changed[1] {
			t.Fatalf("seed %d: %v", seed, changed)
		}
	}
	if flipped == 0 || torn == 0 {
		t.Fatalf("%d flipped, %d torn", flipped, torn)
	}
}
