package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/queue"
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
	const strange = "it's $HOME `x`"
	path, err := (&shellEnv{url: "http://127.0.0.1:1", tokens: credentials{Standard: strange, Admin: "2=2"}}).write(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	out, err := exec.Command("sh", "-c", `. "$0" && sh -c 'echo "$UPSTASH_REDIS_REST_TOKEN|$TRIREME_ADMIN_TOKEN"'`, path).CombinedOutput()
	if err != nil || string(out) != strange+"|2=2\n" {
		t.Errorf("%s %v", out, err)
	}
}

// TestEnvironmentFilesReplaceEachOther: after the file of a server with everything, that of a server with next to nothing leaves
// nothing of the first in a shell.
func TestEnvironmentFilesReplaceEachOther(t *testing.T) {
	full := &shellEnv{url: "http://old", resp: "old:6379", sink: "http://old/test/sink", tokens: credentials{"old1", "old2", "old3", "old4", "old5"}, keys: queue.Keys{Current: "old6", Next: "old7"}}
	for _, v := range full.variables() {
		if v.value == "" {
			t.Errorf("%s has no value: say one above", v.name)
		}
	}
	first, err := full.write(t.TempDir())
	second, err2 := (&shellEnv{url: "http://new"}).write(t.TempDir())
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", `. "$0" && . "$1" && env`, first, second).CombinedOutput()
	if err != nil || strings.Contains(string(out), "=old") || strings.Contains(string(out), "http://old") || !strings.Contains(string(out), "TRIREME_URL=http://new") {
		t.Errorf("%v\n%s", err, out)
	}
}
