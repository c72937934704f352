package httpapi

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// TestSizesAreCountedOnForks: the bytes of long replies are not counted while writes wait for the view.
func TestSizesAreCountedOnForks(t *testing.T) {
	long := reply.Bulk(strings.Repeat("\x00", 1<<20))
	const limit = 4 << 20
	count := func(v *fsm.View) replyMeter {
		m := replyMeter{limit: limit}
		m.add(v, nil, long)
		return m
	}
	machine := fsm.NewMachine()
	if !machine.ViewBriefly(env.At(0), [16]byte{}, func(v *fsm.View) {
		m := replyMeter{limit: 100 * limit}
		m.add(v, nil, long) // which can't exceed the limit
	}) {
		t.Error("a reply that need not be counted is over the cost of a view")
	}
	if machine.ViewBriefly(env.At(0), [16]byte{}, func(v *fsm.View) {
		if m := count(v); m.written != 0 {
			t.Errorf("%d bytes were counted while writes wait", m.written)
		}
	}) {
		t.Error("writes wait for the count of 1 MiB")
	}
	machine.ViewFork(env.At(0), [16]byte{}, func(v *fsm.View) {
		if m := count(v); !m.over() || m.written < 6<<20 {
			t.Errorf("%d bytes were counted on a fork", m.written)
		}
	})
}
