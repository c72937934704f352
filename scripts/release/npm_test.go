package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// npm installs what is packed, and node imports it.
func TestPackagesAreInstalled(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("no npm")
	}
	r := &release{root: "../..", out: t.TempDir(), when: when}
	if err := r.npmPackages(file{"LICENSE", 0o644, []byte("the licence")}); err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(r.out, "*.tgz"))
	if err != nil || len(all) == 0 {
		t.Fatalf("packed: %v %v", all, err)
	}
	app := t.TempDir()
	if err := os.WriteFile(filepath.Join(app, "package.json"), []byte(`{"private":true,"type":"module"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	do := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = app
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	do("npm", append([]string{"install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"}, all...)...)
	installed, err := filepath.Glob(filepath.Join(app, "node_modules", "@trireme", "*"))
	if err != nil || len(installed) != len(all) {
		t.Fatalf("installed: %v %v", installed, err)
	}
	for _, folder := range installed {
		if text, err := os.ReadFile(filepath.Join(folder, "LICENSE")); err != nil || string(text) != "the licence" {
			t.Errorf("%s: licence %q %v", folder, text, err)
		}
		name := "@trireme/" + filepath.Base(folder)
		if out := do("node", "--input-type=module", "-e", `console.log(Object.keys(await import("`+name+`")).length > 0)`); strings.TrimSpace(out) != "true" {
			t.Errorf("%s exports nothing: %s", name, out)
		}
	}
}
