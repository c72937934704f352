package main

import (
	"context"
	"errors"
	"os"
)

// scalingTests are the tests that hold what grows against what is charged, by package.
var scalingTests = []struct{ pkg, names string }{
	{"./fsm/command", "TestCommandsPayForWhatTheyDo|TestPatternsArePriced"},
	{"./fsm", "TestEveryOperationPaysWhatItDoes"},
	{"./fsm/script", "TestLibraryFunctionsArePaidFor|TestOperationsArePaidFor"},
	{"./fsm/queue", "TestNothingIsQuadratic"},
	{"./fsm/acl", "TestSetUserIsLinear|TestRulesArePriced"},
	{"./node/searchindex", "TestSearchesHaveABudgetAndAnEnd|TestHighlightsAreWork"},
	{"./httpapi/messages", "TestListsAreLongReads"},
}

// scale multiplies the sizes of the scaling tests of make test (internal/testcpu reads it).
const scale = "8"

// scaled is scaling: all packages, also after one that has failed.
func scaled(ctx context.Context, s *session) error {
	if err := os.Setenv("TRIREME_SCALE", scale); err != nil {
		return err
	}
	var failed []error
	for _, n := range scalingTests {
		err := s.tests(ctx, n.pkg, n.names)
		if err != nil {
			failed = append(failed, err)
			s.printf("%s: %v", n.pkg, err)
			continue
		}
		s.printf("%s: it grows as what is charged", n.pkg)
	}
	return errors.Join(failed...)
}
