package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// shell runs commands with one file of contexts, and no variable but that.
type shell struct {
	t    *testing.T
	path string
}

func newShell(t *testing.T) *shell {
	s := &shell{t, filepath.Join(t.TempDir(), "settings", "contexts.yaml")}
	for _, name := range []string{urlVariable, tokenVariable, tokenVariable + "_FILE", contextVariable, caVariable} {
		t.Setenv(name, "")
	}
	t.Setenv(contextsVariable, s.path)
	return s
}

// run returns what a command prints, and the error that it ends with.
func (s *shell) run(args ...string) (string, error) {
	var out bytes.Buffer
	root := &cobra.Command{Use: "trireme", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(contextGroup(), queueGroup())
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(s.t.Context())
	return out.String(), err
}

func (s *shell) want(want string, args ...string) {
	s.t.Helper()
	if got, err := s.run(args...); err != nil || got != want {
		s.t.Errorf("%q prints %q, error %v, want %q", args, got, err, want)
	}
}

func (s *shell) refused(code int, says string, args ...string) {
	s.t.Helper()
	if got, err := s.run(args...); ExitCode(err) != code || !strings.Contains(err.Error(), says) {
		s.t.Errorf("%q prints %q and ends with code %d, %v; want code %d, %q", args, got, ExitCode(err), err, code, says)
	}
}

// TestContexts: the first context is the current one, until another is chosen or it is removed.
func TestContexts(t *testing.T) {
	s := newShell(t)
	s.want("NAME  CURRENT  URL  DATABASE  TOKEN  CA\n", "context", "list")
	s.want("the context local asks http://127.0.0.1:1; it stores no token: commands take that of TRIREME_ADMIN_TOKEN\n", "context", "add", "local", "--url", "http://127.0.0.1:1/")
	s.want("the context prod asks https://b.example with the token of --token, which is now in "+s.path+", a file that only you can read\n", "context", "add", "prod", "--url", "https://b.example", "--token", "secret", "--database", "shop")
	s.want("NAME   CURRENT  URL                 DATABASE  TOKEN  CA\nlocal  yes      http://127.0.0.1:1  -         no     -\nprod   no       https://b.example   shop      yes    -\n", "context", "list")
	s.want("the current context is prod\n", "context", "use", "prod")
	s.want("the context local asks http://127.0.0.1:2; it stores no token: commands take that of TRIREME_ADMIN_TOKEN\n", "context", "add", "local", "--url", "http://127.0.0.1:2", "--use")
	s.want("local\nprod\n", "context", "list", "--quiet")
	s.refused(ExitUsage, "Give --yes", "context", "remove", "prod")
	s.refused(ExitUnknown, `there is no context "stage"`, "context", "remove", "stage", "--yes")
	s.refused(ExitUnknown, `there is no context "stage"`, "context", "use", "stage")
	s.refused(ExitUnknown, `there is no context "prdo": did you mean prod?`, "context", "use", "prdo")
	s.want("removed the context local\n", "context", "remove", "local", "--yes")
	s.want("NAME  CURRENT  URL                DATABASE  TOKEN  CA\nprod  no       https://b.example  shop      yes    -\n", "context", "list")
	if got, err := s.run("context", "list", "--output", "json"); err != nil || strings.Contains(got, "secret") {
		t.Errorf("a list shows the token: %s, %v", got, err)
	}
}

// TestContextSaysWhichTokenItStores: one that happens to be in the environment is named, and --no-token leaves it there.
func TestContextSaysWhichTokenItStores(t *testing.T) {
	s := newShell(t)
	t.Setenv(tokenVariable, "of-the-variable")
	stored := func() string {
		text, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	s.want("the context a asks http://127.0.0.1:1; it stores no token: commands take that of TRIREME_ADMIN_TOKEN\n", "context", "add", "a", "--url", "http://127.0.0.1:1", "--no-token")
	if strings.Contains(stored(), "of-the-variable") {
		t.Errorf("--no-token stores the token: %s", stored())
	}
	s.refused(ExitUsage, "both --no-token and a token", "context", "add", "a", "--no-token", "--token", "x")
	s.want("the context a asks http://127.0.0.1:1 with the token of TRIREME_ADMIN_TOKEN, which is now in "+s.path+", a file that only you can read\n", "context", "add", "a", "--url", "http://127.0.0.1:1")
	if !strings.Contains(stored(), "of-the-variable") {
		t.Errorf("the token is not stored: %s", stored())
	}
}

// TestContextsThatAreRefused: nothing is written of a context that can't be used.
func TestContextsThatAreRefused(t *testing.T) {
	s := newShell(t)
	for _, name := range []string{"", "a b", "-a", "a/b", strings.Repeat("a", 65)} {
		s.refused(ExitUsage, "not a valid name", "context", "add", "--url", "http://127.0.0.1:1", "--", name)
	}
	s.refused(ExitUsage, "the URL must look like", "context", "add", "a", "--url", "127.0.0.1:8080")
	s.refused(ExitUsage, "give one of them", "context", "add", "a", "--token", "x", "--token-file", "y")
	s.refused(ExitUsage, "can't read the file of --ca", "context", "add", "a", "--ca", filepath.Join(t.TempDir(), "none"))
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.refused(ExitUsage, "contains no PEM certificate", "context", "add", "a", "--ca", empty)
	s.refused(ExitUsage, "is empty", "context", "add", "a", "--token-file", empty)
	if _, err := os.Stat(s.path); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}

// TestContextsFileIsPrivate: it is written for its owner alone, and refused once others can read it.
func TestContextsFileIsPrivate(t *testing.T) {
	s := newShell(t)
	if _, err := s.run("context", "add", "a", "--url", "http://127.0.0.1:1", "--token", "secret"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(s.path, 0o640); err != nil {
		t.Fatal(err)
	}
	s.refused(ExitUsage, "the mode 0640: run chmod 600", "context", "list")
	s.refused(ExitUsage, "the mode 0640: run chmod 600", "queues", "list")
	if err := os.WriteFile(s.path, []byte("contexts: {"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.path, 0o600); err != nil {
		t.Fatal(err)
	}
	s.refused(ExitUsage, "is not a file of contexts", "context", "list")
}

// TestTokenStaysWithItsURL: the token of a context is never sent to another URL, and flags go before variables.
func TestTokenStaysWithItsURL(t *testing.T) {
	seen := ""
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.URL.Path + " " + r.Header.Get("Authorization")
		_, _ = w.Write([]byte("[]"))
	}))
	defer node.Close()
	s := newShell(t)
	asked := func(want string, args ...string) {
		t.Helper()
		seen = ""
		if _, err := s.run(append([]string{"queues", "list"}, args...)...); err != nil || seen != want {
			t.Errorf("%q asks %q, error %v, want %q", args, seen, err, want)
		}
	}
	if _, err := s.run("context", "add", "own", "--url", node.URL, "--token", "own-token", "--database", "shop"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.run("context", "add", "other", "--url", "http://127.0.0.1:1", "--token", "other-token"); err != nil {
		t.Fatal(err)
	}
	asked("/db/shop/v2/queues Bearer own-token")
	asked("/db/mine/v2/queues Bearer own-token", "--database", "mine")
	asked("/v2/queues Bearer own-token", "--database", "default")
	asked("/db/shop/v2/queues Bearer mine", "--token", "mine")
	s.refused(ExitUsage, "is not set, and there is no other token", "queues", "list", "--url", node.URL+"/other")
	s.refused(ExitUsage, "is not set, and there is no other token", "queues", "list", "--url", node.URL, "--context", "other")
	t.Setenv(tokenVariable, "of-the-variable")
	asked("/db/shop/v2/queues Bearer own-token") // the context's own token goes before
	asked("/v2/queues Bearer of-the-variable", "--url", node.URL)
	t.Setenv(contextVariable, "other")
	asked("/db/shop/v2/queues Bearer own-token", "--context", "own")
	t.Setenv(contextVariable, "")
	t.Setenv(urlVariable, node.URL)
	asked("/v2/queues Bearer of-the-variable")
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("of-the-file\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked("/v2/queues Bearer of-the-file", "--token-file", file)
	t.Setenv(tokenVariable, "")
	t.Setenv(tokenVariable+"_FILE", file)
	asked("/v2/queues Bearer of-the-file")
}
