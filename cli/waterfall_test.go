package cli

import (
	"fmt"
	"testing"
)

// TestSpansOfSteps: a step's time is cut into what is done and what is waited for.
func TestSpansOfSteps(t *testing.T) {
	const now = 2000
	retried := timedStep{State: "STEP_RETRY", Due: 100, Failures: []stepFailure{{150, 500}, {400, 503}}}
	for name, one := range map[string]struct {
		of   timedStep
		want string
	}{
		"done":               {timedStep{State: "STEP_SUCCESS", Due: 100, Recorded: 160}, "100-160"},
		"goes on":            {timedStep{State: "STEP_PROGRESS", Due: 100}, "100-2000"},
		"waits for a retry":  {retried, "100-400 wait 400-2000"},
		"sleep":              {timedStep{State: "STEP_SUCCESS", Due: 100, Recorded: 110, WakesAt: 1110}, "100-110 wait 110-1110"},
		"branch that sleeps": {timedStep{State: "STEP_PROGRESS", Planned: 100, Recorded: 100, Due: 5000, WakesAt: 5000}, "wait 100-2000"},
		"branch that has slept": {
			timedStep{State: "STEP_SUCCESS", Planned: 100, Recorded: 930, Due: 900, WakesAt: 900}, "wait 100-900 900-930",
		},
	} {
		got := ""
		for i, s := range one.of.spans(now) {
			if i > 0 {
				got += " "
			}
			if s.waits {
				got += "wait "
			}
			got += fmt.Sprintf("%d-%d", s.from, s.to)
		}
		if got != one.want {
			t.Errorf("%s: %s, want %s", name, got, one.want)
		}
	}
	for want, of := range map[int64]timedStep{-1: {}, 1900: {Began: 100}, 60: {Began: 100, Ended: 160}} {
		if got := of.time(now); got != want {
			t.Errorf("%+v took %d ms, want %d", of, got, want)
		}
	}
}
