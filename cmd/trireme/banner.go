package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// shellEnv holds the variables that clients, the command line and the tour of README.md read. dev and local-cluster print
// them and write them to a file. The method variables is the only list of their names.
type shellEnv struct {
	url, resp, sink string // resp and sink are empty without a listener or a sink
	tokens          credentials
	keys            queue.Keys
}

// A shellVariable without a value is one that this server doesn't have.
type shellVariable struct{ name, value string }

// variables returns the names and values, always the same names, the admin token last.
func (e *shellEnv) variables() []shellVariable {
	redis := ""
	if e.resp != "" {
		redis = "redis://default:" + e.tokens.Standard + "@" + e.resp
	}
	return []shellVariable{
		{"UPSTASH_REDIS_REST_URL", e.url},
		{"UPSTASH_REDIS_REST_TOKEN", e.tokens.Standard},
		{"UPSTASH_REDIS_REST_READONLY_TOKEN", e.tokens.ReadOnly},
		{"QSTASH_URL", e.url},
		{"QSTASH_TOKEN", e.tokens.Messages},
		{"QSTASH_CURRENT_SIGNING_KEY", e.keys.Current},
		{"QSTASH_NEXT_SIGNING_KEY", e.keys.Next},
		{"REDIS_URL", redis},
		{"WORKFLOW_TARGET_WORLD", "@trireme/world"},
		{"WORKFLOW_TRIREME_URL", e.url},
		{"WORKFLOW_TRIREME_TOKEN", e.tokens.Standard},
		{"TRIREME_URL", e.url},
		{"SINK_URL", e.sink},
		{"TRIREME_ADMIN_TOKEN", e.tokens.Admin},
	}
}

// print prints the variables that have a value, ready to paste. A blank line separates those of clients from those of
// Trireme.
func (e *shellEnv) print(out io.Writer) {
	for _, v := range e.variables() {
		if v.name == "TRIREME_URL" {
			fmt.Fprintln(out)
		}
		if v.value != "" {
			fmt.Fprintf(out, "%s=%s\n", v.name, v.value)
		}
	}
}

// write writes a file that a shell can source, readable by its owner only. It unsets variables without a value: another
// server's file may have set them in that shell.
func (e *shellEnv) write(dir string) (path string, err error) {
	var b strings.Builder
	for _, v := range e.variables() {
		if v.value == "" {
			fmt.Fprintf(&b, "unset %s\n", v.name)
		} else {
			fmt.Fprintf(&b, "export %s='%s'\n", v.name, strings.ReplaceAll(v.value, "'", `'\''`))
		}
	}
	path = filepath.Join(dir, "env")
	temporary := path + ".new"
	if err := os.WriteFile(temporary, []byte(b.String()), 0o600); err != nil {
		return "", err
	}
	return path, os.Rename(temporary, path)
}

// printConsole prints the link that signs a browser in, unless it is "".
func printConsole(out io.Writer, link string) {
	if link != "" {
		fmt.Fprintf(out, "\nConsole (this link signs in once): %s\n", link)
	}
}
