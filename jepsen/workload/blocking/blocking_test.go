package blocking_test

import (
	"context"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/jepsen/workload/blocking"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// A short form of the acceptance run blocking-pops.
func TestPops(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := blocking.Run(ctx, blocking.Options{Addrs: nodes.Addrs, Token: resptest.Token, Waiters: 18, Elements: 900, Rounds: 50, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Taken != 900 || r.Ordered != 900 {
		t.Errorf("%+v", r)
	}
}
