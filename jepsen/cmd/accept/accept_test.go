package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/jepsen/testcluster/fakenode"
)

func TestMain(m *testing.M) { fakenode.Main(m) }

// rehearsal is a session on fake nodes.
func rehearsal(t *testing.T, l fakenode.Fault) (*session, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	c, err := testcluster.NewCluster(testcluster.Options{Binary: os.Args[0], Dir: filepath.Join(dir, "nodes"), Env: fakenode.Env(l)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := errors.Join(c.Start(), waitReady(context.Background(), c, time.Minute)); err != nil {
		t.Fatal(err)
	}
	p, err := openProgress(filepath.Join(dir, "progress.json"), "code", true)
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	return &session{dir: dir, line: "test", out: out, progress: p, cluster: c, rounds: 300}, out
}

func TestReadElsewhere(t *testing.T) {
	s, out := rehearsal(t, fakenode.None)
	if err := readElsewhere(context.Background(), s); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s, _ = rehearsal(t, fakenode.StaleReads)
	if err := readElsewhere(context.Background(), s); err == nil {
		t.Fatal("stale reads passed")
	}
}

// TestLoadJudges lets the load meet faulty nodes.
func TestLoadJudges(t *testing.T) {
	for fault, correct := range map[fakenode.Fault]bool{fakenode.None: true, fakenode.LostWrites: false, fakenode.DoubleAdds: false} {
		s, _ := rehearsal(t, fault)
		l := startLoad(s.cluster, []int{1, 2}, 4, "load")
		at := time.Now()
		if _, err := firstWrite(context.Background(), l, at); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(time.Minute); l.reads.Load() < 200; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: only %d reads in a minute", fault, l.reads.Load())
			}
		}
		l.end()
		l.verify(context.Background(), 2)
		if failed := l.failed.Load(); (failed == 0) != correct {
			t.Errorf("%s: %d failures: %v", fault, failed, l.problems)
		}
	}
}

func TestProgressResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.json")
	p, err := openProgress(path, "a", false)
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	perform := func(i int) (int, error) {
		if run++; run == 3 {
			return 0, errors.New("interrupted")
		}
		return i * 10, nil
	}
	if _, err := repeat(p, "x", 4, perform); err == nil {
		t.Fatal("the error was swallowed")
	}
	if p, err = openProgress(path, "a", false); err != nil || p.resumed() != 2 {
		t.Fatalf("%d rounds kept, %v", p.resumed(), err)
	}
	all, err := repeat(p, "x", 4, perform)
	if err != nil || !slices.Equal(all, []int{0, 10, 20, 30}) || run != 5 {
		t.Fatalf("%v after %d rounds, %v", all, run, err)
	}
	for _, other := range []struct {
		code  string
		fresh bool
	}{{"b", false}, {"a", true}} {
		if p, err = openProgress(path, other.code, other.fresh); err != nil || p.resumed() != 0 {
			t.Fatalf("%+v: %d rounds kept, %v", other, p.resumed(), err)
		}
	}
}

func TestParseTargets(t *testing.T) {
	got := parseTargets("ok  \ta\t0.1s\nFuzzX\nFuzzY\nok  \ttrireme/b\t0.2s\n?   \tc\t[no test files]\nFuzzZ\nok  \ttrireme/d\t0.1s\n")
	want := []target{{"trireme/b", "FuzzX"}, {"trireme/b", "FuzzY"}, {"trireme/d", "FuzzZ"}}
	if !slices.Equal(got, want) {
		t.Fatalf("got %v", got)
	}
}

// TestTour checks that the tour is the section below its heading in the README, and that answers must come in the order in which it shows them.
func TestTour(t *testing.T) {
	readme := "x\n```sh\nmake run\n```\n## A first tour\n```sh\ncurl a # {\"a\":1}, at once\n```\n```go\ncurl \n```\n```sh\ncurl b  # {\"id\":\"msg_...\"}\n```\n### More\n```sh\ncurl c # {}\n```\n"
	script, promises := tourOf(readme)
	if want := []string{`{"a":1}`, `{"id":"msg_..."}`}; !slices.Equal(promises, want) || script != "curl a # {\"a\":1}, at once\ncurl b  # {\"id\":\"msg_...\"}\n" {
		t.Fatalf("%q promises %q", script, promises)
	}
	for text, ok := range map[string]bool{
		"{\"a\":1}\n{\"id\":\"msg_x\"}\n": true, "{\"id\":\"msg_x\"}\n{\"a\":1}\n": false, "{\"a\":1}\n{\"id\":\"msg_\"}\n": false, "": false,
	} {
		if err := kept(promises, text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, promises := tourOf(string(text)); len(promises) < 4 {
		t.Errorf("README.md promises %q", promises)
	}
}

func TestCorruptFileChangesAFile(t *testing.T) {
	for i := range uint64(40) {
		dir := t.TempDir()
		path := filepath.Join(dir, "raft.db")
		before := []byte(strings.Repeat("data", 100))
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		what, err := corruptFile(dir, rand.New(rand.NewPCG(i, 0)))
		if err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(path)
		if err != nil || bytes.Equal(before, after) || !strings.HasPrefix(what, "raft.db of 400 bytes: ") {
			t.Fatalf("%s: changed %v, %v", what, !bytes.Equal(before, after), err)
		}
	}
}

func TestUnknownLineIsRefused(t *testing.T) {
	var out bytes.Buffer
	if code := run(context.Background(), []string{"-run", "core.99"}, &out); code != 2 || !strings.Contains(out.String(), "steady-leader") {
		t.Fatalf("exit code %d, %s", code, &out)
	}
}

// Every run is found by its name and by its former one, and both are its own.
func TestRunsAreListedAndFound(t *testing.T) {
	var out bytes.Buffer
	if code := run(context.Background(), nil, &out); code != 0 {
		t.Fatalf("listing the runs ended with %d", code)
	}
	for i := range acceptances {
		r := &acceptances[i]
		if find(r.name) != r || find(r.alias) != r {
			t.Errorf("%s or %s names another run too", r.name, r.alias)
		}
		if !strings.Contains(out.String(), "  "+r.name+" ") || r.about == "" || r.perform == nil {
			t.Errorf("%s is not listed with what it shows", r.name)
		}
	}
	if find("") != nil || find("core.99") != nil {
		t.Error("a name that no run has was found")
	}
}

// TestRunsNameTestsThatExist: a run fails if it names a test that is not there, and none does.
func TestRunsNameTestsThatExist(t *testing.T) {
	files, _ := filepath.Glob("*.go")
	call, found := regexp.MustCompile(`(?:ests\((?:ctx, )?|\{)"(\./[a-z/]+)", "(Test[^"]*)"`), 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			found++
			if err := declared(filepath.Join("../../..", m[1]), m[2]); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if found < len(scalingTests)+10 {
		t.Errorf("only %d runs of tests were found in the sources", found)
	}
	if err := declared(".", "TestRunsNameTestsThatExist|TestNone"); err == nil || !strings.Contains(err.Error(), "TestNone") {
		t.Errorf("a test that is not there: %v", err)
	}
}
