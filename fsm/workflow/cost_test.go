package workflow_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// costOutput is the length of the outputs of steps whose cost is measured, costSteps how many there are, costRun of each
// run.
const (
	costOutput = 256
	costSteps  = 5_000
	costRun    = 250
)

// TestCostOfAStep holds what is kept of a finished step to 1 KB above its output, in memory, which is more than in a
// snapshot: of one after another, and of one of a block, which is kept with its plan. It is measured in a state as it came
// about, and in one that was restored.
func TestCostOfAStep(t *testing.T) {
	for name, do := range map[string]func(*cost, string, uint32) uint32{"sequential": (*cost).sequential, "parallel": (*cost).parallel} {
		t.Run(name, func(t *testing.T) {
			before := liveHeap()
			c := newCost(t)
			for done := 0; done < costSteps; done += costRun {
				id := fmt.Sprintf("wfr_%d", done)
				c.submit(start(id))
				for at := uint32(1); at <= costRun; {
					at = do(c, id, at)
				}
				c.end(id)
			}
			lived := liveHeap() - before
			restored := c.restore()
			both := liveHeap() - before
			for what, heap := range map[string]int64{"as it came about": lived, "restored": both - lived, "logically": c.s.Used()} {
				each := float64(heap)/costSteps - costOutput
				t.Logf("%s: a finished step keeps %.0f B above its output", what, each)
				if each > 1024 || each < 100 {
					t.Errorf("%s: a finished step keeps %.0f B above its output", what, each)
				}
			}
			runtime.KeepAlive(c)
			runtime.KeepAlive(restored)
		})
	}
}

// liveHeap returns the bytes of the heap that are reachable.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // what the first one finds to be finalised
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// cost is one pair of stores, and a deliverer whose deliveries all go well.
type cost struct {
	t testing.TB
	pair
	index uint64
	now   int64
	out   string
}

func newCost(t testing.TB) *cost {
	return &cost{t: t, pair: pair{workflow.New(), queue.New()}, now: 1_790_000_000_000, out: strings.Repeat("o", costOutput)}
}

// apply does something and has everything delivered that is due.
func (c *cost) apply(f func(e *env.Env) error) {
	c.t.Helper()
	entry := func() *env.Env {
		c.index++
		c.now++
		e := env.New(c.index, c.now, env.Latest, [16]byte{byte(c.index), byte(c.index >> 8)}, 0)
		e.Session = 7
		return e
	}
	if err := f(entry()); err != nil {
		c.t.Fatal(err)
	}
	for {
		list := c.q.Advance(entry(), queue.Demand{Epoch: 1, Term: 1, Claims: 16})
		if len(list) == 0 {
			return
		}
		e := entry()
		n := queue.Results{}
		for _, a := range list {
			n.Items = append(n.Items, queue.Result{AttemptRef: a.Ref(), Response: fine})
		}
		if _, err := c.q.Finish(e, n); err != nil {
			c.t.Fatal(err)
		}
		c.s.ApplyReports(e, c.q, c.q.TakeReports())
	}
}

func (c *cost) submit(items ...workflow.Submission) {
	c.t.Helper()
	c.apply(func(e *env.Env) error {
		out, err := c.s.Submit(e, c.q, workflow.Submissions{Items: items})
		for i := range out.Items {
			if out.Items[i].Refused != nil {
				return out.Items[i].Refused
			}
		}
		return err
	})
}

func (c *cost) end(id string) {
	c.t.Helper()
	c.apply(func(e *env.Env) error {
		_, err := c.s.End(e, c.q, workflow.Ending{RunID: id})
		return err
	})
}

// sequential does one step, parallel a block of ten; each gives the number of the next step.
func (c *cost) sequential(id string, at uint32) uint32 {
	c.submit(step(id, at, c.out))
	return at + 1
}

func (c *cost) parallel(id string, at uint32) uint32 {
	const branches = 10
	var plans []workflow.Submission
	for n := range uint32(branches) {
		plans = append(plans, plan(id, at+n, branches))
	}
	c.submit(plans...)
	for n := range uint32(branches) {
		c.submit(step(id, at+n, c.out))
	}
	return at + branches
}

// restore returns a pair that was restored from a snapshot.
func (c *cost) restore() pair {
	c.t.Helper()
	n := pair{workflow.New(), queue.New()}
	for _, part := range []struct {
		save func(func([]byte) error) error
		load func([]byte) error
	}{{c.q.Save, n.q.Load}, {c.s.Save, n.s.Load}} {
		if err := part.save(func(r []byte) error { return part.load(bytes.Clone(r)) }); err != nil {
			c.t.Fatal(err)
		}
	}
	return n
}
