package fsm_test

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestAdvanceOfAnotherTermClaimsNothing: a leader's request that was passed on to its
// successor must not take claims, and must not take the successor's.
func TestAdvanceOfAnotherTermClaimsNothing(t *testing.T) {
	r := newRetrying(t)
	publish := queue.Publications{Items: []queue.Publication{{URL: "http://example.com/"}}}
	if o := r.apply(r.l.entry(fsm.Request{Code: fsm.Publish.Code, Body: fsm.Publish.Body(publish)}))[0]; o.Err != nil {
		t.Fatal(o.Err)
	}
	advance := func(epoch, term uint64) int {
		n := fsm.AdvanceLimit{Deliver: true, Epoch: epoch, Term: term, Claims: 10}
		o := r.apply(r.l.entry(fsm.Request{Code: fsm.Advance.Code, Body: fsm.Advance.Body(n)}))[0]
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		return len(o.Value.(fsm.Advanced).Attempts)
	}
	var epoch uint64
	r.m.View(0, [16]byte{}, func(v *fsm.View) { epoch = v.Epoch() })
	if n := advance(epoch, r.l.term+1) + advance(epoch+1, r.l.term); n != 0 {
		t.Errorf("%d claims in the name of others", n)
	}
	if n := advance(epoch, r.l.term); n != 1 {
		t.Errorf("%d claims", n)
	}
	if n := advance(epoch, r.l.term-1) + advance(epoch, r.l.term); n != 0 {
		t.Errorf("%d claims were taken over", n)
	}
}
