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
)

// freshClone is fresh-clone: clone what is committed, make run, the README's tour, make test.
func freshClone(ctx context.Context, s *session) error {
	dir, err := os.MkdirTemp("", "trireme-clone-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	clone := filepath.Join(dir, "clone")
	if err := s.command(ctx, "git", "clone", "--quiet", s.root, clone); err != nil {
		return err
	}
	if err := serveClone(ctx, s, clone); err != nil {
		return err
	}
	began := time.Now()
	test := exec.CommandContext(ctx, "make", "test")
	test.Dir, test.Stdout, test.Stderr = clone, s.out, s.out
	if err := test.Run(); err != nil {
		return fmt.Errorf("make test: %w", err)
	}
	took := time.Since(began)
	s.printf("make test took %v", took.Round(time.Second))
	return atMost("make test", took, testLimit)
}

// serveClone runs make run and the README's tour against it.
func serveClone(ctx context.Context, s *session, clone string) error {
	began := time.Now()
	out := newWatched("take these variables by") // the last line, after the file is written
	run := exec.Command("make", "run", "ARGS=--sink")
	run.Dir, run.Stdout, run.Stderr = clone, out, out
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := run.Start(); err != nil {
		return fmt.Errorf("make run: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	defer syscall.Kill(-run.Process.Pid, syscall.SIGKILL) // what is left of the group
	limit, cancel := context.WithTimeout(ctx, buildLimit)
	defer cancel()
	select {
	case <-out.seen:
	case err := <-ended:
		return fmt.Errorf("make run ended: %v\n%s", err, out)
	case <-limit.Done():
		return fmt.Errorf("make run is not ready after %v\n%s", buildLimit, out)
	}
	s.printf("make run is ready after %v, compiling included", time.Since(began).Round(time.Second))
	if err := takeTour(limit, s, clone); err != nil {
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
func takeTour(ctx context.Context, s *session, clone string) error {
	readme, err := os.ReadFile(filepath.Join(clone, "README.md"))
	if err != nil {
		return err
	}
	script, promises := tourOf(string(readme))
	if len(promises) == 0 {
		return errors.New("README.md has no tour, or one that promises no answer")
	}
	cmd := exec.CommandContext(ctx, "sh", "-ec", script)
	cmd.Dir = clone
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

// String is what was written so far.
func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
