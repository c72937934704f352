package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/testapi"
)

func TestReceivedLines(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"hook", `{"hello":"world"}`, "sink hook received POST, 17 bytes: {\"hello\":\"world\"}\n"},
		{"hook", "", "sink hook received POST, 0 bytes: \n"},
		{"a\x1b[2J", "x\ny", "sink \"a\\x1b[2J\" received POST, 3 bytes: \"x\\ny\"\n"},
		{"hook", strings.Repeat("x", 600), "sink hook received POST, 600 bytes: " + strings.Repeat("x", 500) + "…\n"},
		{"hook", strings.Repeat("ä", 300), "sink hook received POST, 600 bytes: " + strings.Repeat("ä", 250) + "…\n"},
	} {
		var out bytes.Buffer
		printReceived(&out)(c.name, testapi.Received{Method: "POST", Body: c.body})
		if out.String() != c.want {
			t.Errorf("%q, want %q", out.String(), c.want)
		}
	}
}

// TestEnvironmentFile: a shell takes the variables as they are, and nobody else may read them.
func TestEnvironmentFile(t *testing.T) {
	dir := t.TempDir()
	path, err := writeEnvironment(dir, []string{"ONE_TOKEN=it's $HOME `x`", "", "TWO=2=2"})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	out, err := exec.Command("sh", "-c", `. "$0" && sh -c 'echo "$ONE_TOKEN|$TWO"'`, path).CombinedOutput()
	if err != nil || string(out) != "it's $HOME `x`|2=2\n" {
		t.Errorf("%s %v", out, err)
	}
}
