package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestOneDashLongFlagsOfDev(t *testing.T) {
	for given, want := range map[string]string{
		"dev -port=8080":             "dev --port=8080",
		"dev -port 8080 -memory":     "dev --port 8080 --memory",
		"dev --port=8080":            "dev --port=8080",
		"dev -h":                     "dev -h",
		"dev -nonsense=1":            "dev -nonsense=1",
		"dev -- -port=1":             "dev -- -port=1",
		"serve -node-id n1":          "serve -node-id n1",
		"cluster status -json":       "cluster status -json",
		"-port=1":                    "-port=1",
		"dev -http 127.0.0.1:1 -x=-": "dev --http 127.0.0.1:1 -x=-",
	} {
		if got := strings.Join(twoDashes(newRoot(), strings.Fields(given)), " "); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}

func TestOperationsNamesEveryFlag(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() != "dev" && cmd.Name() != "serve" {
			continue
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(string(text), "`--"+f.Name) {
				t.Errorf("docs/operations.md doesn't name --%s of %s", f.Name, cmd.Name())
			}
		})
	}
}
