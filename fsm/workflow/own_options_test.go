package workflow

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestOwnOptionsOfARevivedStep: what is left of a delay is a delay, which does not wait for wall time; a time of day that wall time has
// not reached stays one.
func TestOwnOptionsOfARevivedStep(t *testing.T) {
	const now, behind = 1_000_000, 60_000
	delay := func(ms int64) queue.Options { return queue.Options{Given: queue.GivenDelay, Delay: ms} }
	before := func(at int64) queue.Options { return queue.Options{Given: queue.GivenNotBefore, NotBefore: at} }
	for name, test := range map[string]struct {
		level env.Level
		own   queue.Options
		first int64
		want  *queue.Options
	}{
		"delay":                          {env.Files, delay(50_000), now + 20_000, new(delay(20_000))},
		"delay that is over":             {env.Files, delay(50_000), now, nil},
		"delay below the level":          {env.Base, delay(50_000), now + 20_000, new(before(now + 20_000))},
		"time of day":                    {env.Files, before(now + 20_000), now + 20_000, new(before(now + 20_000))},
		"time of day that is held back":  {env.Files, before(now - 20_000), now - 10_000, new(before(now - 20_000))},
		"time of day that has come":      {env.Files, before(now - behind), now - 10_000, nil},
		"time of day that was run early": {env.Files, before(now - 20_000), now - 30_000, nil},
	} {
		e := env.New(1, now, test.level, [16]byte{}, 0)
		if test.level >= env.Files {
			e.Wall -= behind
		}
		got := ownOptions(&Entry{Own: &test.own, FirstAt: test.first}, e)
		if (got == nil) != (test.want == nil) || got != nil && (got.Given != test.want.Given || got.Delay != test.want.Delay || got.NotBefore != test.want.NotBefore) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
