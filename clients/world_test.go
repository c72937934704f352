package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// The world of Vercel's Workflow SDK runs against three nodes: workflows of our own with the published runtime, and what the world promises beyond its
// interface. In a database beside default it does the same, with that one's token and keys, and leaves nothing in default.
func TestWorld(t *testing.T) {
	install(t)
	nodes := httpapitest.ServeDelivering(t, 3, "", nil)
	urls := nodeURLs(nodes)
	for _, program := range []string{"refusals.mjs", "test.mjs", "contract.mjs", "own.mjs"} {
		t.Run(program, func(t *testing.T) { inWorld(t, urls, httpapitest.Token, httpapitest.MessagesToken, program) })
	}
	t.Run("database", func(t *testing.T) {
		const token = "token-of-the-database-app"
		app := fsm.DatabaseTokens{Name: "app", Standard: acl.DigestOf(token), ReadOnly: acl.DigestOf("read-only")}
		if _, err := fsm.Do(t.Context(), nodes.Nodes[0], fsm.CreateDatabase, app); err != nil {
			t.Fatal(err)
		}
		before := keysOf(t, urls[0])
		var within []string
		for _, url := range urls {
			within = append(within, url+"/db/app")
		}
		inWorld(t, within, token, token, "own.mjs")
		inWorld(t, within, token, token, "test.mjs", "basics")
		if after := keysOf(t, urls[0]); after != before {
			t.Errorf("default has %s keys, and had %s before", after, before)
		}
	})
}

// keysOf asks for the number of keys of the database default.
func keysOf(t *testing.T, url string) string {
	t.Helper()
	return ask(t, url+"/dbsize", httpapitest.Token)
}

func ask(t *testing.T, url, token string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	body, err := io.ReadAll(p.Body)
	if err != nil || p.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", url, p.StatusCode, body, err)
	}
	return string(body)
}

// inWorld runs a program of the world's tests with the token of a database and one of its messages.
func inWorld(t *testing.T, urls []string, token, messages, program string, args ...string) {
	t.Helper()
	keys := signingKeys(t, urls[0], messages)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", append([]string{program}, args...)...)
	node.Dir = "world/test"
	node.Env = append(os.Environ(), "WORKFLOW_TRIREME_URL="+strings.Join(urls, ","), "WORKFLOW_TRIREME_TOKEN="+token,
		"WORKFLOW_TRIREME_SIGNING_KEY="+keys.Current, "WORKFLOW_TRIREME_NEXT_SIGNING_KEY="+keys.Next)
	if output, err := node.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// The workflows of the harness pass the type checker with the published types.
func TestWorldTypes(t *testing.T) {
	install(t)
	check := exec.CommandContext(t.Context(), "node_modules/.bin/tsc", "--noEmit")
	check.Dir = "world/test"
	if output, err := check.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// signingKeys asks a node for the keys that sign deliveries, with a token of messages.
func signingKeys(t *testing.T, url, token string) (keys struct{ Current, Next string }) {
	t.Helper()
	if err := json.Unmarshal([]byte(ask(t, url+"/v2/keys", token)), &keys); err != nil || keys.Current == "" {
		t.Fatal(keys, err)
	}
	return keys
}

// The built files of the world are what its source makes.
func TestBuiltWorld(t *testing.T) {
	install(t)
	for config, folder := range map[string]string{"tsconfig.json": "cjs", "tsconfig.esm.json": "esm"} {
		out := t.TempDir()
		compiler := exec.CommandContext(t.Context(), "node_modules/.bin/tsc", "-p", config, "--outDir", out)
		compiler.Dir = "world"
		if output, err := compiler.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		built := map[string][]byte{}
		for _, dir := range []string{out, filepath.Join("world", "dist", folder)} {
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			more, err2 := filepath.Glob(filepath.Join(dir, "lua", "*"))
			if err != nil || err2 != nil || len(files) == 0 || len(more) == 0 {
				t.Fatal(dir, files, more, err, err2)
			}
			for _, path := range append(files, more...) {
				name, err := filepath.Rel(dir, path)
				if err != nil {
					t.Fatal(err)
				}
				if info, err := os.Stat(path); err != nil || info.IsDir() || name == "package.json" {
					continue
				}
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if dir == out {
					built[name] = text
				} else if was, is := built[name]; !is || !bytes.Equal(was, text) {
					t.Errorf("%s differs from what the source makes: node build.mjs in clients/world", path)
				} else {
					delete(built, name)
				}
			}
		}
		for name := range built {
			t.Errorf("dist/%s lacks %s: node build.mjs in clients/world", folder, name)
		}
	}
}
