package workflow_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// TestForkOfASealedRun: a run that is in a volume is forked by its records, which a reader brings.
func TestForkOfASealedRun(t *testing.T) {
	w := newWorld(t)
	for _, p := range w.pairs {
		p.s.Raise(env.Files)
	}
	for i := range 70 {
		id := fmt.Sprint("r", i)
		w.submit(start(id))
		w.deliver(fine)
		one := step(id, 1, "a")
		one.State = []byte(`{"n":1}`)
		w.submit(one)
		w.deliver(fine)
		apply(w, func(e *env.Env, p pair) (workflow.RunRef, error) { return p.s.End(e, p.q, workflow.Ending{RunID: id}) })
		w.now += 1000
	}
	for range 40 {
		w.now += 3_600_000 / 4
		w.advance()
	}
	if w.run("r0") != nil {
		t.Fatal("the run is not in a volume")
	}
	reader := w.pairs[0].s.Thawing()
	old := reader.Find("r0", 0)
	if old == nil || !reader.InVolume(old) {
		t.Fatalf("a reader finds %+v", old)
	}
	var want []string
	reader.Log(old.No, func(_ uint32, e *workflow.Entry) bool {
		want = append(want, string(e.Body.Bytes()))
		return true
	})
	n, _ := forkingOf(reader, old, nil)
	if _, err := w.fork(n); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("without its records: %v", err)
	}
	reader.AppendRun(&n, old)
	n.Data, n.RunID = old.Data, "f"
	if _, err := w.fork(n); err != nil {
		t.Fatal(err)
	}
	if got := w.bodies("f"); !slices.Equal(got, want) || string(w.run("f").Data.State) != `{"n":1}` || w.run("f").URL != url {
		t.Errorf("the log is %q, not %q", got, want)
	}
	if sent := w.deliver(fine); len(sent) != 1 {
		t.Errorf("%d deliveries", len(sent))
	}
	w.restore(1)
	w.same()
}
