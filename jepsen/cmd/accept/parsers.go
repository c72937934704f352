package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/bench/growth"
)

// parserTargets are the fuzz targets of what reads the bytes of strangers.
var parserTargets = []target{
	{"github.com/trireme-dev/trireme/resp/protocol", "FuzzParser"},
	{"github.com/trireme-dev/trireme/httpapi/console", "FuzzSignIn"},
	{"github.com/trireme-dev/trireme/cluster/transport", "FuzzHello"},
	{"github.com/trireme-dev/trireme/cluster/transport", "FuzzAccepted"},
	{"github.com/trireme-dev/trireme/cluster/transport", "FuzzFrames"},
	{"github.com/trireme-dev/trireme/cluster/membership", "FuzzDiscovery"},
	{"github.com/trireme-dev/trireme/cluster/membership", "FuzzMember"},
	{"github.com/trireme-dev/trireme/fsm/rdb", "FuzzFile"},
	{"github.com/trireme-dev/trireme/fsm/rdb", "FuzzDecode"},
	{"github.com/trireme-dev/trireme/fsm/script", "FuzzJSON"},
	{"github.com/trireme-dev/trireme/fsm/script", "FuzzMessagePack"},
	{"github.com/trireme-dev/trireme/fsm/jsondoc", "FuzzPath"},
	{"github.com/trireme-dev/trireme/fsm/glob", "FuzzMatch"},
	{"github.com/trireme-dev/trireme/fsm/script", "FuzzPattern"},
}

// unauthenticatedTargets are the fuzz targets of the code that reads bytes of unauthenticated clients: docs/security.md lists them.
var unauthenticatedTargets = []target{
	{"github.com/trireme-dev/trireme/httpapi/fastpath", "FuzzConnection"},
	{"github.com/trireme-dev/trireme/httpapi/fastpath", "FuzzRepeatedRequest"},
	{"github.com/trireme-dev/trireme/httpapi/redis", "FuzzTarget"},
	{"github.com/trireme-dev/trireme/httpapi/redis", "FuzzCommandBody"},
	{"github.com/trireme-dev/trireme/httpapi/redis", "FuzzBatchBody"},
	{"github.com/trireme-dev/trireme/fsm/acl", "FuzzBearer"},
	{"github.com/trireme-dev/trireme/httpapi/console", "FuzzSignIn"},
	{"github.com/trireme-dev/trireme/resp/protocol", "FuzzParser"},
	{"github.com/trireme-dev/trireme/cluster/transport", "FuzzHello"},
	{"github.com/trireme-dev/trireme/cluster/transport", "FuzzAccepted"},
	{"github.com/trireme-dev/trireme/cluster/transport", "FuzzFrames"},
	{"github.com/trireme-dev/trireme/cluster/membership", "FuzzDiscovery"},
	{"github.com/trireme-dev/trireme/cluster/membership", "FuzzMember"},
}

// strangers fuzzes the code that reads bytes of unauthenticated clients.
func strangers(ctx context.Context, s *session) error {
	if err := s.fuzz(ctx, unauthenticatedTargets, "-fuzzminimizetime=2s"); err != nil {
		return err
	}
	s.printf("%d targets, %v each, no crash", len(unauthenticatedTargets), s.fuzzTime)
	return nil
}

// growthRepeats is the number of times that a family that failed is measured again.
const growthRepeats = 2

// parsers is parsers: how the time of every parser grows with hostile input, then
// the fuzz targets, one worker each.
func parsers(ctx context.Context, s *session) error {
	var failed []error
	for _, f := range growth.Families() {
		points := f.Measure(ctx)
		verdict := growth.Judge(points)
		for range growthRepeats { // the machine may have been busy
			if verdict == nil {
				break
			}
			points = f.Measure(ctx)
			verdict = growth.Judge(points)
		}
		s.printf("%-60s %s", f.Name, growth.Shown(points))
		if verdict != nil {
			failed = append(failed, fmt.Errorf("%s: %w", f.Name, verdict))
		}
	}
	if err := errors.Join(append(failed, ctx.Err())...); err != nil {
		return err
	}
	if err := s.fuzz(ctx, parserTargets, "-parallel=1", "-fuzzminimizetime=2s"); err != nil {
		return err
	}
	s.printf("%d targets, %v each, no crash", len(parserTargets), s.fuzzTime)
	return nil
}
