package main

import (
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// walkthrough runs the commands of a step-by-step section of docs/operations.md in one shell, with other ports, and ends
// the nodes that it leaves: those of the walk without an argument, with "restore" those of the walk from a backup, which
// begins with the certificates and keys of the other.
func walkthrough(ts *testscript.TestScript, _ bool, args []string) {
	script := "set -e\ntrap 'kill $(cat n*.pid) 2>/dev/null || true; wait; tail -n 5 *n?.log >&2' EXIT\n"
	blocks := documented(ts, "\n## Step by step: ")
	if len(args) > 0 {
		blocks = append(blocks[:2], documented(ts, "\n### Step by step, with TLS\n")...)
	}
	script += strings.Join(blocks, "")
	for documented, name := range map[string]string{"808": "HTTP", "708": "CLUSTER", "709": "GOSSIP"} {
		port := ts.Getenv(name)
		script = strings.ReplaceAll(script, ":"+documented, ":"+port[:len(port)-1])
	}
	ts.Check(os.WriteFile(ts.MkAbs("walk.sh"), []byte(script), 0o600))
	ts.Check(ts.Exec("sh", "walk.sh"))
	shown := ts.ReadFile("stdout")
	if last := shown[strings.LastIndex(shown, "ID "):]; len(args) == 0 && strings.Contains(last, "\nn3 ") {
		ts.Fatalf("n3 is a node still: %s", last)
	}
}

// documented are the shell blocks of a section of docs/operations.md.
func documented(ts *testscript.TestScript, heading string) (blocks []string) {
	text, err := os.ReadFile("../../docs/operations.md")
	ts.Check(err)
	_, section, found := strings.Cut(string(text), heading)
	if !found {
		ts.Fatalf("docs/operations.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range shellBlock.FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}
