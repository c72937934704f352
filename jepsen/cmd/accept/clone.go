package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	testLimit  = 15 * time.Minute // the limit for make test
	buildLimit = 10 * time.Minute // make run compiles first
	// busyLimit bounds both on a busy machine with empty caches. It only ends a run that hangs.
	busyLimit = 2 * time.Hour
	busyLoad  = 20
)

// freshClone is fresh-clone: clone what is committed, make run, the README's tour, make test.
func freshClone(ctx context.Context, s *session) error {
	return s.inClone(ctx, func(clone string) error {
		if err := serveClone(ctx, s, clone, nil, buildLimit); err != nil {
			return err
		}
		return testClone(ctx, s, clone, nil, testLimit)
	})
}

// busyClone is busy-clone: fresh-clone in an empty home directory, so with empty caches, at a load of busyLoad.
func busyClone(ctx context.Context, s *session) error {
	return s.inClone(ctx, func(clone string) error {
		home := filepath.Join(filepath.Dir(clone), "home")
		if err := os.Mkdir(home, 0o755); err != nil {
			return err
		}
		// Go's module cache has read-only files.
		defer exec.Command("chmod", "-R", "u+w", home).Run()
		busy := holdLoad(s, busyLoad)
		defer busy.stop()
		env := newcomer(home)
		if err := serveClone(ctx, s, clone, env, busyLimit); err != nil {
			return err
		}
		return testClone(ctx, s, clone, env, busyLimit)
	})
}

// inClone clones what is committed.
func (s *session) inClone(ctx context.Context, use func(clone string) error) error {
	dir, err := os.MkdirTemp("", "trireme-clone-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone := filepath.Join(dir, "clone")
	if err := s.command(ctx, "git", "clone", "--quiet", s.root, clone); err != nil {
		return err
	}
	return use(clone)
}

// testClone runs make test; env nil is this process's.
func testClone(ctx context.Context, s *session, clone string, env []string, limit time.Duration) error {
	began := time.Now()
	test := exec.CommandContext(ctx, "make", "test")
	test.Dir, test.Env, test.Stdout, test.Stderr = clone, env, s.out, s.out
	if err := test.Run(); err != nil {
		return fmt.Errorf("make test: %w", err)
	}
	took := time.Since(began)
	s.printf("make test took %v", took.Round(time.Second))
	return atMost("make test", took, limit)
}

// serveClone runs make run and the README's tour against it; env nil is this process's.
func serveClone(ctx context.Context, s *session, clone string, env []string, patience time.Duration) error {
	began := time.Now()
	out := newWatched("take these variables by") // the last line, after the file is written
	run := exec.Command("make", "run", "ARGS=--sink")
	run.Dir, run.Env, run.Stdout, run.Stderr = clone, env, out, out
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := run.Start(); err != nil {
		return fmt.Errorf("make run: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	defer syscall.Kill(-run.Process.Pid, syscall.SIGKILL) // what is left of the group
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-out.seen:
	case err := <-ended:
		return fmt.Errorf("make run ended: %v\n%s", err, out)
	case <-limit.Done():
		return fmt.Errorf("make run is not ready after %v\n%s", patience, out)
	}
	s.printf("make run is ready after %v, compiling included", time.Since(began).Round(time.Second))
	if err := takeTour(limit, s, clone, env); err != nil {
		return err
	}
	syscall.Kill(-run.Process.Pid, syscall.SIGINT)
	select {
	case <-ended:
		return nil
	case <-limit.Done():
		return fmt.Errorf("make run did not end after SIGINT\n%s", out)
	}
}

// takeTour runs the README's first tour: with the file of variables that make run has written, redis-cli, and the example that
// needs npm.
func takeTour(ctx context.Context, s *session, clone string, env []string) error {
	readme, err := os.ReadFile(filepath.Join(clone, "README.md"))
	if err != nil {
		return err
	}
	script, promises := tourOf(string(readme))
	if len(promises) == 0 {
		return errors.New("README.md has no tour, or one that promises no answer")
	}
	cmd := exec.CommandContext(ctx, "sh", "-ec", script)
	cmd.Dir, cmd.Env = clone, env
	text, err := cmd.CombinedOutput()
	s.printf("%s\n%s", strings.TrimSpace(script), strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("the README's tour: %w", err)
	}
	return kept(promises, string(text))
}

// tourOf are the shell blocks of the README's first tour in one, as somebody runs them who copies and pastes, and the answers
// that their comments promise.
func tourOf(readme string) (script string, promises []string) {
	_, tour, _ := strings.Cut(readme, "\n## A first tour\n")
	tour, _, _ = strings.Cut(tour, "\n### ")
	for _, block := range shellBlock.FindAllStringSubmatch(tour, -1) {
		script += block[1]
	}
	for _, m := range promised.FindAllStringSubmatch(script, -1) {
		promises = append(promises, m[1])
	}
	return script, promises
}

// kept is an error unless each promised answer is in a text, in order; three dots stand for any value.
func kept(promises []string, text string) error {
	for _, one := range promises {
		answer := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(one), regexp.QuoteMeta("..."), `[^"]+`))
		at := answer.FindStringIndex(text)
		if at == nil {
			return fmt.Errorf("the README's tour got no answer %s", one)
		}
		text = text[at[1]:]
	}
	return nil
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	// promised is the answer that a line of a shell block says a command gets.
	promised = regexp.MustCompile(`# (\{.*\})`)
)

// watched collects output and tells when a text has appeared.
type watched struct {
	seen chan struct{} // closed when the text has appeared

	mu   sync.Mutex
	text bytes.Buffer
	want string
}

var _ io.Writer = (*watched)(nil)

func newWatched(want string) *watched { return &watched{seen: make(chan struct{}), want: want} }

// Write implements io.Writer.
func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(p)
	if w.want != "" && strings.Contains(w.text.String(), w.want) {
		w.want = ""
		close(w.seen)
	}
	return len(p), nil
}

// String returns the text written so far.
func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
