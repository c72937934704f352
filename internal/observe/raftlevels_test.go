package observe

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ownFailures are raft's errors in its transport and its replication that are about this node itself.
var ownFailures = map[string]bool{
	"failed to accept connection": true, "failed to list snapshots": true, "failed to open snapshot": true, "failed to get log": true,
}

var (
	raftMessage = regexp.MustCompile(`logger\.(?:Error|Warn|Info)\("([^"]+)"`)
	raftError   = regexp.MustCompile(`logger\.Error\("([^"]+)"`)
)

// TestPeersFailuresAreNoErrors verifies that raft's errors about another server have a level of their own, and that every message
// with one is raft's.
func TestPeersFailuresAreNoErrors(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/hashicorp/raft").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("raft has %d files: %v", len(files), err)
	}
	all := map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range raftMessage.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = true
		}
		if base := filepath.Base(name); base != "net_transport.go" && base != "replication.go" {
			continue
		}
		for _, m := range raftError.FindAllStringSubmatch(string(text), -1) {
			if _, given := raftLevels[m[1]]; !given && !ownFailures[m[1]] {
				t.Errorf("raft's error %q has no level", m[1])
			}
		}
	}
	for message := range raftLevels {
		if !all[message] {
			t.Errorf("raft has no message %q", message)
		}
	}
}
