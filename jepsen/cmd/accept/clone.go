package main

import (
	"bufio"
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

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	testLimit  = 15 * time.Minute // the limit for make test
	buildLimit = 10 * time.Minute // make run compiles first
)

// freshClone is fresh-clone: clone what is committed, make run, the README's first
// requests, make test.
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

// serveClone runs make run and the README's requests against it.
func serveClone(ctx context.Context, s *session, clone string) error {
	began := time.Now()
	out := newWatched("running at")
	run := exec.Command("make", "run")
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
	if err := firstRequests(ctx, s, clone, out); err != nil {
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

// firstRequests runs every shell block of the README that calls curl, with the
// environment that make run printed, and one request of our own.
func firstRequests(ctx context.Context, s *session, clone string, out *watched) error {
	var env []string
	err := testcluster.Poll(ctx, 50*time.Millisecond, func() error { // the lines may follow the ready line
		env = exported(out.String())
		if value(env, "UPSTASH_REDIS_REST_URL") == "" || value(env, "UPSTASH_REDIS_REST_TOKEN") == "" {
			return errors.New("make run has not printed its environment")
		}
		return nil
	})
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(clone, "README.md"))
	if err != nil {
		return err
	}
	blocks := curlBlocks(string(readme))
	if len(blocks) == 0 {
		return errors.New("README.md shows no request with curl")
	}
	for _, block := range blocks {
		cmd := exec.CommandContext(ctx, "sh", "-ec", block)
		cmd.Dir, cmd.Env = clone, append(os.Environ(), env...)
		text, err := cmd.CombinedOutput()
		s.printf("%s\n%s", strings.TrimSpace(block), strings.TrimSpace(string(text)))
		if err != nil || bytes.Contains(text, []byte("WRONGPASS")) || !bytes.Contains(text, []byte(`"result"`)) {
			return fmt.Errorf("the README's requests failed: %v", err)
		}
	}
	client := testcluster.NewClient(strings.TrimPrefix(value(env, "UPSTASH_REDIS_REST_URL"), "http://"), value(env, "UPSTASH_REDIS_REST_TOKEN"))
	defer client.Close()
	if r := client.Do(ctx, "SET", "accept", "yes"); string(r.Result) != `"OK"` {
		return fmt.Errorf("SET answered %+v", r)
	}
	return nil
}

var exportLine = regexp.MustCompile(`^(?:export )?([A-Z][A-Z_]*)="?([^"\s]+)"?$`)

// exported picks NAME=value lines.
func exported(text string) []string {
	var env []string
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if m := exportLine.FindStringSubmatch(strings.TrimSpace(lines.Text())); m != nil {
			env = append(env, m[1]+"="+m[2])
		}
	}
	return env
}

func value(env []string, name string) string {
	for _, line := range env {
		if v, found := strings.CutPrefix(line, name+"="); found {
			return v
		}
	}
	return ""
}

var shellBlock = regexp.MustCompile("(?s)```(?:sh|bash|shell|console)\n(.*?)```")

// curlBlocks are the shell blocks of a Markdown text that call curl.
func curlBlocks(text string) []string {
	var blocks []string
	for _, m := range shellBlock.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "curl ") {
			blocks = append(blocks, m[1])
		}
	}
	return blocks
}

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
