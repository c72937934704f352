package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// guard is a limit of a test that waits for a condition, in seconds.
var guard = regexp.MustCompile(`(?:time\.After\(|time\.Now\(\)\.Add\(|context\.With(?:Timeout|Deadline)\([^,\n]+, ?)(\d+) ?\* ?time\.Second\)`)

// leastGuard is the shortest time that a test may wait before it says that something does not happen. A test that passes does not wait for
// it, and a machine that does other work may need most of it.
const leastGuard = 60

// TestGuardsAreGenerous refuses limits that a busy machine may miss.
func TestGuardsAreGenerous(t *testing.T) {
	for _, f := range repository(t) {
		if !f.Test {
			continue
		}
		src, err := os.ReadFile(filepath.Join(root, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range guard.FindAllStringSubmatch(string(src), -1) {
			if n, _ := strconv.Atoi(m[1]); n < leastGuard {
				t.Errorf("%s: %s: wait for a minute or more: only a test that fails takes as long", f.Path, m[0])
			}
		}
	}
}
