package fsm_test

import (
	"fmt"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestSealingDependsOnTheStateAlone: a machine that was restored from a snapshot seals old events at the same entries as one that was
// not, although nobody has used their database since.
func TestSealingDependsOnTheStateAlone(t *testing.T) {
	c := newDeliverer(t, 38)
	if _, err := propose(c, fsm.BootstrapState, founding("sealed", 1)); err != nil {
		t.Fatal(err)
	}
	const batches, together = 40, 50
	for i := range batches {
		var list queue.Publications
		for k := range together {
			list.Items = append(list.Items, queue.Publication{URL: fmt.Sprintf("http://example.com/%d", k), Body: []byte("body")})
		}
		if _, err := propose(c, fsm.Publish, list); err != nil {
			t.Fatal(err)
		}
		got, err := propose(c, fsm.Advance, fsm.AdvanceLimit{Sweep: 10, Deliver: true, Term: c.l.term, Claims: together})
		if err != nil || len(got.Attempts) != together {
			t.Fatalf("batch %d: %d attempts, %v", i, len(got.Attempts), err)
		}
		var done queue.Results
		for _, a := range got.Attempts {
			done.Items = append(done.Items, queue.Result{AttemptRef: a.Ref(), Response: queue.Response{Status: 200}})
		}
		if _, err := propose(c, fsm.Finish, done); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(m *fsm.Machine) (n int) {
		m.View(0, [16]byte{}, func(v *fsm.View) { n = v.Messages().Counts().Messages })
		return n
	}
	if n := kept(c.a); n != batches*together {
		t.Fatalf("%d messages are in the trees before a minute has passed", n)
	}
	c.b = restored(t, c.a)
	c.l.now += 120_000
	for range 2 * batches {
		if _, err := propose(c, fsm.Advance, fsm.AdvanceLimit{Sweep: 200, Term: c.l.term}); err != nil {
			t.Fatal(err)
		}
		c.same()
	}
	if n := kept(c.a); n > batches*together/4 {
		t.Errorf("%d of %d messages are in the trees", n, batches*together)
	}
}
