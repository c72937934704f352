package hub_test

import (
	"fmt"
	"sync"
	"testing"

	"trireme/fsm"
	"trireme/fsm/channel"
	"trireme/httpapi/httpapitest"
)

// Once a subscription's end has settled, nobody is counted; also when many come and go
// and when requests fail meanwhile.
func TestSettle(t *testing.T) {
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
				h.Settle(t.Context())
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
	h.Settle(t.Context())
	if n := execute(t, e, "PUBLISH", "c", "m"); n != "0" {
		t.Errorf("%s receivers", n)
	}
}
