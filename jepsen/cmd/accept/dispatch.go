package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// command runs a program in the repository, its output going to ours.
func (s *session) command(ctx context.Context, argv ...string) error {
	return s.commandIn(ctx, "", argv...)
}

// commandIn is command in a folder of the repository.
func (s *session) commandIn(ctx context.Context, dir string, argv ...string) error {
	s.printf("$ %s", strings.Join(argv, " "))
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(s.root, dir), s.out, s.out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return nil
}

// bench is a line that a subcommand of the benchmarks performs.
func bench(args ...string) func(context.Context, *session) error {
	return func(ctx context.Context, s *session) error {
		if err := s.command(ctx, "make", "build", "bench-tools"); err != nil {
			return err
		}
		return s.command(ctx, append([]string{filepath.Join("bin", "bench")}, args...)...)
	}
}

// replicas is replicas and command-replicas: tests of the state machine, the first in its long form.
func replicas(ctx context.Context, s *session) error {
	return s.command(ctx, "go", "test", "-tags", testcluster.Tags, "-count=1", "-timeout=60m", "-v",
		"-run", "^(TestReplay|TestRules.*)$", "./fsm", "-args", "-replay", "3000000") // shared among three runs
}

// clientTests is client-tests: the published client is driven by a test.
func clientTests(ctx context.Context, s *session) error {
	if err := s.command(ctx, "make", "setup"); err != nil {
		return err
	}
	return s.command(ctx, "go", "test", "-tags", testcluster.Tags, "-count=1", "-timeout=15m", "-v", "./clients/...")
}

// fuzzed is one finished target.
type fuzzed struct{ Target string }

// fuzzing is fuzzing: every fuzz target of the repository in turn.
func fuzzing(ctx context.Context, s *session) error {
	targets, err := fuzzTargets(ctx, s.root)
	if err != nil {
		return err
	}
	if err := s.fuzz(ctx, targets); err != nil {
		return err
	}
	s.printf("%d targets, %v each, no crash", len(targets), s.fuzzTime)
	return nil
}

// fuzz gives each target its time; those that had it are not run again.
func (s *session) fuzz(ctx context.Context, targets []target, flags ...string) error {
	for _, t := range targets {
		name := t.name + " in " + t.pkg + " for " + s.fuzzTime.String()
		_, err := repeat(s.progress, name, 1, func(int) (fuzzed, error) {
			argv := append([]string{"go", "test", "-tags", testcluster.Tags, "-run=^$", "-fuzz=^" + t.name + "$", "-fuzztime=" + s.fuzzTime.String()}, flags...)
			return fuzzed{t.name}, s.command(ctx, append(argv, t.pkg)...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// target is one fuzz function.
type target struct{ pkg, name string }

// fuzzTargets lists them by asking every test binary.
func fuzzTargets(ctx context.Context, root string) ([]target, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-tags", testcluster.Tags, "-list", "^Fuzz", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list fuzz targets: %w\n%s", err, out)
	}
	targets := parseTargets(string(out))
	if len(targets) == 0 {
		return nil, fmt.Errorf("list fuzz targets: there are none")
	}
	return targets, nil
}

// parseTargets reads the output of go test -list: names, then the package's line.
func parseTargets(out string) []target {
	var targets []target
	var names []string
	for _, l := range strings.Split(out, "\n") {
		f := strings.Fields(l)
		switch {
		case len(f) == 1 && strings.HasPrefix(f[0], "Fuzz"):
			names = append(names, f[0])
		case len(f) >= 2 && f[0] == "ok":
			for _, name := range names {
				targets = append(targets, target{pkg: f[1], name: name})
			}
			names = nil
		}
	}
	return targets
}

// damagedDisk is damaged-disk: whole nodes with damaged files, then the store's own
// experiments, which keep their own state.
func damagedDisk(ctx context.Context, s *session) error {
	if err := damagedNodes(ctx, s); err != nil {
		return err
	}
	if err := fullDisks(ctx, s); err != nil {
		return err
	}
	code := crc32.ChecksumIEEE([]byte(s.progress.Code)) // trials of other code do not count
	state := filepath.Join(s.dir, fmt.Sprintf("damaged-disk.trials.%08x.json", code))
	return s.command(ctx, "go", "run", "-tags", testcluster.Tags, "./jepsen/cmd/logtrial", "-state", state)
}
