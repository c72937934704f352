package main

import (
	"context"
	"errors"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
)

// scripts is a line that consists of scripts of the command line, which start real processes: names is a regular
// expression of them.
func scripts(names string) func(context.Context, *session) error {
	return func(ctx context.Context, s *session) error {
		return s.command(ctx, "go", "test", "-tags", testcluster.Tags, "-count=1", "-timeout=30m", "-v", "-run", "^TestScripts$/^("+names+")$", "./cmd/trireme")
	}
}

// refusedStrangers is foreign-nodes: processes that meet, and beside them what each part says by itself.
func refusedStrangers(ctx context.Context, s *session) error {
	return errors.Join(
		s.tests(ctx, "./cluster", "TestAdmission"),
		s.tests(ctx, "./cluster/membership", "TestMembersOfAnotherClusterAreRefused|TestDelegateRefusesStrangers|TestDiscoveryIsSealed"),
		scripts("strangers|secure|members")(ctx, s))
}
