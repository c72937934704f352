package main

import (
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// walkthrough runs the commands of the step-by-step section of docs/operations.md in one
// shell, with other ports, and ends the nodes that it leaves.
func walkthrough(ts *testscript.TestScript, _ bool, _ []string) {
	text, err := os.ReadFile("../../docs/operations.md")
	ts.Check(err)
	_, section, found := strings.Cut(string(text), "\n## Step by step: ")
	if !found {
		ts.Fatalf("docs/operations.md has no step-by-step section")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	script := "set -e\ntrap 'kill $(cat n*.pid) 2>/dev/null || true; wait; tail -n 5 n*.log >&2' EXIT\n"
	for _, block := range shellBlock.FindAllStringSubmatch(section, -1) {
		script += block[1]
	}
	for documented, name := range map[string]string{"808": "HTTP", "708": "CLUSTER", "709": "GOSSIP"} {
		port := ts.Getenv(name)
		script = strings.ReplaceAll(script, ":"+documented, ":"+port[:len(port)-1])
	}
	ts.Check(os.WriteFile(ts.MkAbs("walk.sh"), []byte(script), 0o600))
	ts.Check(ts.Exec("sh", "walk.sh"))
	shown := ts.ReadFile("stdout")
	if last := shown[strings.LastIndex(shown, "ID "):]; strings.Contains(last, "\nn3 ") {
		ts.Fatalf("n3 is a node still: %s", last)
	}
}
