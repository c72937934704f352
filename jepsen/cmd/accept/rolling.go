package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

const (
	// previousRelease names, in the repository, the commit of the version before and its tag.
	previousRelease = "testdata/compat/PREVIOUS"
	// rollingLimit bounds the start of one node, and the rise of the feature level.
	rollingLimit = time.Minute
	// rollingStop bounds the end of a node after SIGTERM.
	rollingStop = 15 * time.Second
	// refusedTime is the time for which a node that must not serve is watched, unless it ends before.
	refusedTime = 20 * time.Second
	// levelRaised is the leader's log message after it has raised the feature level.
	levelRaised = "the feature level was raised"
	// logUpgraded is a node's log message after it has upgraded the log of a previous version.
	logUpgraded = "the log was upgraded to segments"
)

// rolling is F22: a cluster of the previous version is upgraded node by node while clients write, goes back while one
// node still has the previous version, is upgraded again, and raises its feature level. From then on the previous
// version refuses to run on its data. Nothing that was acknowledged is missing in the end.
func rolling(ctx context.Context, s *session) error {
	old, next, err := s.versions()
	if err != nil {
		return err
	}
	dir, err := s.scratch()
	if err != nil {
		return err
	}
	c, err := testcluster.NewCluster(testcluster.Options{Binary: old, Dir: filepath.Join(dir, "nodes")})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := errors.Join(c.Start(), waitReady(ctx, c, rollingLimit)); err != nil {
		return err
	}
	w := startWriters(c, "rolling")
	r := &roll{s: s, c: c, old: old, next: next}
	err = r.perform(ctx)
	w.end()
	if err != nil {
		return err
	}
	w.verify(ctx)
	for _, p := range w.problems {
		s.printf("  %s", p)
	}
	var writes, open int64
	for _, one := range w.clients {
		writes, open = writes+acknowledged(one), open+unknown(one)
	}
	s.printf("%d writes were acknowledged, of %d the outcome is unknown", writes, open)
	for _, crash := range c.Crashes() {
		err = errors.Join(err, fmt.Errorf("%s ended by itself with exit code %d: %s", crash.Node, crash.ExitCode, crash.Log))
	}
	if w.wrong > 0 {
		err = errors.Join(err, fmt.Errorf("%d writes that were acknowledged are missing or wrong", w.wrong))
	}
	return err
}

// versions are the binaries of the previous version and of the next.
func (s *session) versions() (old, next string, err error) {
	dir := filepath.Join(s.dir, "bin")
	if next = s.next; next == "" {
		if next, err = testcluster.Build(filepath.Join(dir, "next"), testcluster.BuildOptions{Next: true}); err != nil {
			return "", "", err
		}
	}
	if info, err := os.Stat(s.previous); err == nil && info.Mode().IsRegular() {
		s.printf("from the binary %s", s.previous)
		return s.previous, next, nil
	}
	commit := s.previous
	if commit == "" {
		if commit, err = s.released(); err != nil {
			return "", "", err
		}
	}
	s.printf("from %s", commit)
	old, err = testcluster.BuildOf(commit, filepath.Join(dir, "previous"))
	return old, next, err
}

// released is the commit of the version before.
func (s *session) released() (string, error) {
	text, err := os.ReadFile(filepath.Join(s.root, previousRelease))
	if err != nil {
		return "", fmt.Errorf("which version is the previous one: %w", err)
	}
	commit, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return commit, nil
}

// roll is one cluster on its way between versions.
type roll struct {
	s         *session
	c         *testcluster.Cluster
	old, next string
}

func (r *roll) perform(ctx context.Context) error {
	nodes := r.c.Nodes
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"two nodes are upgraded", func() error { return r.change(ctx, r.next, nodes[:2]) }},
		{"they go back", func() error { return r.change(ctx, r.old, nodes[:2]) }},
		{"all are upgraded", func() error { return r.change(ctx, r.next, nodes) }},
		{"the level rises", func() error { return r.awaitLevel(ctx) }},
		{"the previous version is refused", func() error { return r.refused(ctx, nodes[0]) }},
		{"the next one goes on", func() error { return r.start(ctx, r.next, nodes[0]) }},
	} {
		begin := time.Now()
		if err := step.do(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		r.s.printf("%-35s %5.1f s", step.name, time.Since(begin).Seconds())
	}
	return ctx.Err()
}

// change has nodes run another version, one after the other.
func (r *roll) change(ctx context.Context, binary string, nodes []*testcluster.Node) error {
	for _, n := range nodes {
		if raised := r.raised(); raised > 0 {
			return fmt.Errorf("the level has risen while a node still has the previous version")
		}
		if err := n.Stop(rollingStop); err != nil {
			return err
		}
		if binary == r.old && n.Logged(logUpgraded) > 0 {
			if err := goBack(ctx, r.next, n); err != nil {
				return err
			}
		}
		if err := r.start(ctx, binary, n); err != nil {
			return err
		}
	}
	return nil
}

// goBack writes the log of a node that is stopped as the previous version reads it.
func goBack(ctx context.Context, release string, n *testcluster.Node) error {
	if out, err := exec.CommandContext(ctx, release, "downgrade", "--data-dir", n.DataDir).CombinedOutput(); err != nil {
		return fmt.Errorf("downgrade %s: %w: %s", n.ID, err, out)
	}
	return nil
}

// start runs a node's next process and waits until it serves.
func (r *roll) start(ctx context.Context, binary string, n *testcluster.Node) error {
	n.Use(binary)
	if err := n.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, rollingLimit)
	defer cancel()
	return r.c.WaitNodeReady(ctx, n)
}

// raised counts how often the level was raised.
func (r *roll) raised() (count int) {
	for _, n := range r.c.Nodes {
		count += n.Logged(levelRaised)
	}
	return count
}

func (r *roll) awaitLevel(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rollingLimit)
	defer cancel()
	return testcluster.Poll(ctx, 100*time.Millisecond, func() error {
		if r.raised() == 0 {
			return errors.New("no leader has raised it")
		}
		return nil
	})
}

// refused has a node run the previous version again: it ends by itself, or at least never serves.
func (r *roll) refused(ctx context.Context, n *testcluster.Node) error {
	if err := n.Stop(rollingStop); err != nil {
		return err
	}
	n.Use(r.old)
	n.Excuse() // it is to end by itself
	defer n.Blame()
	if err := n.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(refusedTime); time.Now().Before(end) && n.Pid() != 0; sleep(ctx, 50*time.Millisecond) {
		if n.Ready(ctx) {
			return fmt.Errorf("%s serves with the previous version", n.ID)
		}
	}
	r.s.printf("the node says: %s", n.Tail(1))
	if err := n.Kill(); err != nil && !errors.Is(err, testcluster.ErrDown) {
		return err
	}
	return ctx.Err()
}
