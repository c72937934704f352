package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/trireme-dev/trireme/clients"
	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// tests performs tests of a package; arguments follow -args.
func (s *session) tests(ctx context.Context, pkg, names string, args ...string) error {
	if err := declared(filepath.Join(s.root, pkg), names); err != nil {
		return err
	}
	argv := []string{"go", "test", "-tags", testcluster.Tags, "-count=1", "-timeout=30m", "-v", "-run", "^(" + names + ")$", pkg}
	if len(args) > 0 {
		argv = append(append(argv, "-args"), args...)
	}
	return s.command(ctx, argv...)
}

// declared is the error if a folder has not all of some tests, which are expressions: go test takes none of them for a success.
func declared(dir, names string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return err
	}
	var sources []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sources = append(sources, text...)
	}
	for name := range strings.SplitSeq(names, "|") {
		if !regexp.MustCompile(`\nfunc (?:` + name + `)\(`).Match(sources) {
			return fmt.Errorf("%s has no test %s", dir, name)
		}
	}
	return nil
}

// longTests is a line that consists of tests of the gateway in full length.
func longTests(pkg, names string, args ...string) func(context.Context, *session) error {
	return func(ctx context.Context, s *session) error { return s.tests(ctx, pkg, names, args...) }
}

// specificationRounds is the number of times that http-specification runs the index. Requests go to
// different nodes each time.
const specificationRounds = 5

// specification is http-specification: every sentence against one node and against a random node
// of three for each request.
func specification(ctx context.Context, s *session) error {
	_, err := repeat(s.progress, "index", s.count(specificationRounds), func(int) (struct{}, error) {
		return struct{}{}, s.tests(ctx, "./httpapi/spectest", "TestSpec|TestIndex")
	})
	return err
}

// publishedClient is http-client: the client's program with the token of each kind, against
// three processes.
func publishedClient(ctx context.Context, s *session) error {
	if err := s.command(ctx, "make", "setup"); err != nil {
		return err
	}
	c, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	var urls []string
	for _, n := range c.Nodes {
		urls = append(urls, "http://"+n.HTTP)
	}
	kinds, err := clients.Kinds(ctx, urls[0], testcluster.Token, testcluster.ReadOnlyToken, testcluster.AdminToken)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		output, err := k.Run(ctx, urls)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", k.Name, err, output)
		}
		s.printf("%s: passed", k.Name)
	}
	s.printf("the client has no call for /monitor; line http-specification has it")
	return nil
}
