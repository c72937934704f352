package main

import (
	"strings"
	"testing"
)

// TestHideSecrets: the values of secret flags are overwritten in place, in both forms, and kept in
// the copy that is parsed.
func TestHideSecrets(t *testing.T) {
	given := []string{"serve", "--gossip-key", "c2VjcmV0", "--gossip", "127.0.0.1:1", "--gossip-key=b3RoZXI=", "gossip-key", "--gossip-key-file", "key", "--gossip-key"}
	args := make([]string, len(given))
	for i, arg := range given {
		args[i] = string(append([]byte(nil), arg...)) // memory of its own, as a process's arguments have
	}
	if got := hideSecrets(args); strings.Join(got, " ") != strings.Join(given, " ") {
		t.Errorf("parsed: %q", got)
	}
	if got, want := strings.Join(args, " "), "serve --gossip-key ******** --gossip 127.0.0.1:1 --gossip-key=******** gossip-key --gossip-key-file key --gossip-key"; got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
}
