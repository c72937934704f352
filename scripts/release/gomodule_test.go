package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// userProgram uses the module as a user does: it serves a workflow.
const userProgram = `package main

import (
	"context"
	"fmt"

	"github.com/trireme-dev/trireme/workflow"
)

func main() {
	greet := workflow.New("greet", func(c *workflow.Context, name string) (string, error) {
		return workflow.Run(c, "greet", func(context.Context) (string, error) { return "hello " + name, nil }), nil
	})
	fmt.Println(workflow.Handler(workflow.Options{}, greet) != nil, greet.Name())
}
`

// A fresh module gets the package from the folder that a release has, and its program runs. The same commit makes the same bytes.
func TestModuleIsInstalled(t *testing.T) {
	r, err := newRelease("../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.goProxy(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(r.out, "go", filepath.FromSlash(goModule), "@v")
	list, err := os.ReadFile(filepath.Join(folder, "list"))
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSpace(string(list))
	again := *r
	again.out = t.TempDir()
	if err := again.goProxy(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{".info", ".mod", ".zip"} {
		one, err := os.ReadFile(filepath.Join(folder, version+kind))
		if err != nil {
			t.Fatal(err)
		}
		two, err := os.ReadFile(filepath.Join(again.out, "go", filepath.FromSlash(goModule), "@v", version+kind))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s differs, or is missing: %v", kind, err)
		}
	}
	app := t.TempDir()
	if err := os.WriteFile(filepath.Join(app, "main.go"), []byte(userProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules, proxy, _ := strings.Cut(strings.TrimSpace(string(cache)), "\n")
	env := append(os.Environ(), "GOPROXY=file://"+filepath.Join(r.out, "go")+",file://"+filepath.Join(modules, "cache", "download")+","+proxy,
		"GONOSUMDB="+goModule, "GOFLAGS=-modcacherw -trimpath", "GOMODCACHE="+t.TempDir(), "GOWORK=off")
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = app, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("mod", "init", "example.com/app")
	run("get", goModule+"/workflow@"+version)
	if out := run("run", "."); strings.TrimSpace(out) != "true greet" {
		t.Errorf("it prints %s", out)
	}
}

func TestModuleVersions(t *testing.T) {
	const commit = "0123456789abcdef0123"
	for _, c := range []struct{ tag, last, want string }{
		{"v1.2.3", "v1.2.3", "v1.2.3"}, {"", "v1.2.3", "v1.2.4-0.20260921141320-0123456789ab"}, {"", "", "v0.0.0-20260921141320-0123456789ab"},
	} {
		if got := moduleVersion(c.tag, c.last, commit, when); got != c.want {
			t.Errorf("after %q, %q: %s, want %s", c.last, c.tag, got, c.want)
		}
	}
}
