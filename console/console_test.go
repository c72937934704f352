// Package console_test builds the console anew and drives it in a browser.
package console_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/console/dist"
)

// needs skips the test, with a line that says why, where what it runs is missing.
func needs(t *testing.T) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	for _, pkg := range []string{"esbuild", "@biomejs/biome", "openapi-typescript", "vitest"} {
		if _, err := os.Stat(filepath.Join("node_modules", pkg)); err != nil {
			t.Skipf("%s is not installed: clients/setup.sh installs it", pkg)
		}
	}
}

// TestSourcesAreFormattedAndLinted runs the formatter and linter, with the configuration in biome.jsonc.
func TestSourcesAreFormattedAndLinted(t *testing.T) {
	needs(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join("node_modules", ".bin", "biome"), "check", "--error-on-warnings", "--colors=off", ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: console/node_modules/.bin/biome check --write repairs what it can\n%s", err, out)
	}
}

// TestBuiltFilesAreOfTheSource builds the console and compares it with what is committed.
// gzip may pack differently from one version of Node.js to another: what is packed counts.
func TestBuiltFilesAreOfTheSource(t *testing.T) {
	needs(t)
	dir := t.TempDir()
	if out, err := exec.Command("node", "build.mjs", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(made) == 0 {
		t.Fatalf("nothing was built: %v", err)
	}
	for _, path := range made {
		name := filepath.Base(path)
		if !bytes.Equal(read(t, path), read(t, filepath.Join("dist", name))) {
			t.Errorf("dist/%s is not what console/src makes: run make console", name)
		}
	}
	for _, name := range dist.Names() {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("dist/%s is of another build: run make console", name)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUnits runs the unit tests of sources that need no browser: the words for figures, the spans of a waterfall, the formats of
// values, and what views work out.
func TestUnits(t *testing.T) {
	needs(t)
	if out, err := exec.CommandContext(t.Context(), "npm", "run", "--silent", "unit").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestTypes checks the sources against the types of what the API answers, made from its OpenAPI documents.
func TestTypes(t *testing.T) {
	needs(t)
	if out, err := exec.CommandContext(t.Context(), "npm", "run", "--silent", "check").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestLockFileNamesNoAddress: packages are found at whatever registry npm is told.
func TestLockFileNamesNoAddress(t *testing.T) {
	if text := read(t, "package-lock.json"); bytes.Contains(text, []byte(`"resolved"`)) {
		t.Error("package-lock.json has download addresses: npm install --omit-lockfile-registry-resolved")
	}
}

// TestBuildWithoutConsole builds a binary that has neither the pages nor OpenID Connect, and asks it for them.
func TestBuildWithoutConsole(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "trireme")
	build := exec.Command("go", "build", "-tags", "nomsgpack,noconsole", "-o", binary, "../cmd/trireme")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := exec.Command("go", "version", "-m", binary).Output()
	if err != nil || !bytes.Contains(list, []byte("spf13/cobra")) || bytes.Contains(list, []byte("go-oidc")) {
		t.Errorf("the modules of the binary: %v\n%s", err, list)
	}
	out, err := exec.Command(binary, "dev", "--memory", "--port", "0", "--oidc-issuer", "https://login.example.com", "--oidc-client-id", "c", "--oidc-roles", "ops=admin").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("this build has no console")) {
		t.Errorf("with --oidc-issuer: %v %s", err, out)
	}
	if text := ask(t, binary); !strings.Contains(text, "404") || !strings.Contains(text, "this build has no console") {
		t.Errorf("/console answers %s", text)
	}
	if text := ask(t, binary, "--console=off"); !strings.Contains(text, "this build has no console") {
		t.Errorf("/console answers %s", text)
	}
}

// ask starts a development node and returns what it answers at /console.
func ask(t *testing.T, binary string, more ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"dev", "--memory", "--port", "0", "--resp", "off", "--log-level", "error"}, more...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _, _ = io.Copy(io.Discard, out); _ = cmd.Wait() }()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		url, found := strings.CutPrefix(lines.Text(), "TRIREME_URL=")
		if !found {
			continue
		}
		resp, err := http.Get(url + "/console/")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Status + " " + string(body)
	}
	t.Fatal("the node has not started")
	return ""
}

// TestInBrowser drives every view, on one node and on three.
func TestInBrowser(t *testing.T) {
	needs(t)
	binary := filepath.Join(t.TempDir(), "trireme")
	build := exec.Command("go", "build", "-tags", "nomsgpack", "-o", binary, "../cmd/trireme")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, browser := range []struct {
		name     string
		programs []string
	}{
		{"Chromium", []string{"chromium", "chromium-browser", "google-chrome"}},
		{"Firefox", []string{"firefox-esr", "firefox"}},
	} {
		t.Run(browser.name, func(t *testing.T) {
			drive(t, strings.ToUpper(browser.name)+"="+installed(t, browser.programs), "TRIREME="+binary)
		})
	}
}

// installed returns the path of the first program that is there, and skips the test if none is.
func installed(t *testing.T, programs []string) string {
	t.Helper()
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("not installed (Debian's package %s)", programs[0])
	return ""
}

// drive runs the tests of the pages with variables of the environment.
func drive(t *testing.T, variables ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "test/console.mjs")
	cmd.Env = append(os.Environ(), variables...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
