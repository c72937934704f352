package pops_test

import (
	"context"
	"testing"
	"time"

	"trireme/jepsen/pops"
	"trireme/resp/resptest"
)

// A short form of the acceptance line families.6.
func TestPops(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := pops.Run(ctx, pops.Options{Addrs: nodes.Addrs, Token: resptest.Token, Waiters: 18, Elements: 900, Rounds: 10, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Taken != 900 || r.Ordered != 180 {
		t.Errorf("%+v", r)
	}
}
