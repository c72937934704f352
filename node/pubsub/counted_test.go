package pubsub_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// TestWaitCounted: once WaitCounted returns, subscriptions that ended before are not counted,
// also while others come and go and announcements fail.
func TestWaitCounted(t *testing.T) {
	e := httpapitest.New()
	h := e.NewHub(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprint("c", i)
			for range 200 {
				s := h.Subscribe("default")
				s.Add(channel.Plain, name)
				if events, err := next(t, s); err != nil || len(events) != 1 {
					t.Errorf("%v %v", events, err)
					return
				}
				s.Close()
				h.WaitCounted(t.Context())
				if n := execute(t, e, "PUBLISH", name, "m"); n != "0" {
					t.Errorf("%s receivers of %s after its end", n, name)
					return
				}
			}
		})
	}
	all.Wait()
	e.FailWrites(fsm.ErrUnknown, true)
	s := h.Subscribe("default")
	s.Add(channel.Plain, "c")
	if _, err := next(t, s); err != nil {
		t.Fatal(err)
	}
	s.Close()
	e.FailWrites(nil, false)
	h.WaitCounted(t.Context())
	if n := execute(t, e, "PUBLISH", "c", "m"); n != "0" {
		t.Errorf("%s receivers", n)
	}
}
