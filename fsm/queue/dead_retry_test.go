package queue

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// TestRetriedDeadLettersAreDue: a dead letter that is published anew is due at once, whenever the original was to be delivered, unless
// the retry asks for another time; each becomes one message, however often it is named.
func TestRetriedDeadLettersAreDue(t *testing.T) {
	for name, times := range map[string]Options{
		"no time":  {},
		"a delay":  {Given: GivenDelay, Delay: 60_000},
		"a moment": {Given: GivenNotBefore, NotBefore: start + 120_000},
	} {
		w := newWorld(t)
		p := url("a")
		p.Options = times.Over(p.Options)
		p.Retries, p.Given = 0, p.Given|GivenRetries
		w.publish(p)
		w.now += 130_000
		w.finish(w.one(), 500)
		dead, _, _ := w.s.DeadLetters(nil, &Filter{}, Page{Limit: 10})
		if len(dead) != 1 {
			t.Fatalf("%s: %d dead letters", name, len(dead))
		}
		retry := func(o Options) Published {
			t.Helper()
			list, _, _ := w.s.DeadLetters(nil, &Filter{}, Page{Limit: 10})
			if len(list) != 1 {
				t.Fatalf("%s: %d dead letters", name, len(list))
			}
			at := list[0].Stamp
			out, err := w.s.RetryDead(w.env(), DeadRetry{DeadSelection: DeadSelection{IDs: []Stamp{at, at}}, Options: o})
			if err != nil || len(out.Messages) != 1 {
				t.Fatalf("%s: %+v, %v", name, out, err)
			}
			return out.Messages[0]
		}
		again := retry(Options{})
		if at, ok := w.s.NextDue(env.At(w.now)); !ok || at > w.now {
			t.Errorf("%s: the message that was retried is due %d ms from now, %v", name, at-w.now, ok)
		}
		a := w.one()
		if a.ID != again.ID {
			t.Errorf("%s: another message is due", name)
		}
		w.finish(a, 500)
		retry(Options{Given: GivenDelay, Delay: 5000})
		w.none()
		w.now += 5000
		w.finish(w.one(), 200)
	}
}
