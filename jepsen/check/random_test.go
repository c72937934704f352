package check

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// drawHistory runs random operations against a true register, each taking effect
// at one moment of its interval, some reported as unknown or not applied.
func drawHistory(t *rapid.T) []history.Op {
	kinds := []history.Kind{history.Read, history.Write, history.Create, history.CompareAndSet}
	clients := rapid.IntRange(1, 5).Draw(t, "clients")
	free := make([]int64, clients) // when each client's last operation ended
	state, now := "", int64(0)
	var ops []history.Op
	for i := range rapid.IntRange(5, 60).Draw(t, "operations") {
		op := history.Op{Key: "k", Client: rapid.IntRange(0, clients-1).Draw(t, "client")}
		op.Kind = rapid.SampledFrom(kinds).Draw(t, "kind")
		now = max(now, free[op.Client]) + 2
		op.Call = rapid.Int64Range(free[op.Client]+1, now).Draw(t, "call")
		op.Return = now + rapid.Int64Range(1, 20).Draw(t, "took")
		if op.Kind != history.Read {
			op.Value = fmt.Sprint("v", i)
		}
		op.Expect = state
		op.Outcome = rapid.SampledFrom([]history.Outcome{history.OK, history.OK, history.OK, history.Unknown, history.NotApplied}).Draw(t, "outcome")
		if op.Outcome == history.OK || op.Outcome == history.Unknown && rapid.Bool().Draw(t, "happened") {
			state = apply(&op, state)
		}
		free[op.Client] = op.Return
		ops = append(ops, op)
	}
	return ops
}

// apply performs the operation on the true register and fills in its reply.
func apply(op *history.Op, state string) string {
	switch op.Kind {
	case history.Read:
		op.Found, op.Read = state != "", state
		return state
	case history.Create:
		op.Found = state == ""
	case history.CompareAndSet:
		op.Found = state == op.Expect
	default:
		op.Found = true
	}
	if op.Found {
		return op.Value
	}
	return state
}

func TestTrueRegistersPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if r := Registers(drawHistory(t)); len(r.Anomalies) > 0 {
			t.Fatal(r.Anomalies[0])
		}
	})
}

// TestForgedReadFails replaces the answer of one read by a value that is written
// only after the read returned.
func TestForgedReadFails(t *testing.T) {
	forged := 0
	rapid.Check(t, func(t *rapid.T) {
		ops := drawHistory(t)
		for i, op := range ops {
			if op.Kind != history.Read || !op.Known() {
				continue
			}
			for _, later := range ops {
				if later.Kind == history.Write && later.Call > op.Return {
					ops[i].Found, ops[i].Read = true, later.Value
					r := Registers(ops)
					if len(r.Anomalies) == 0 {
						t.Fatalf("accepted a read of %s before it was written", later.Value)
					}
					if w := r.Anomalies[0].Witness; !illegal(w) || len(w) > len(ops) {
						t.Fatalf("the witness proves nothing: %v", w)
					}
					forged++
					return
				}
			}
		}
	})
	if forged == 0 {
		t.Fatal("no history could be forged")
	}
}

func TestShrinkFindsTheCore(t *testing.T) {
	var ops []history.Op
	for i := range int64(100) {
		v := fmt.Sprint("v", i)
		ops = append(ops,
			history.Op{Key: "k", Kind: history.Write, Value: v, Outcome: history.OK, Call: 100 * i, Return: 100*i + 10},
			history.Op{Key: "k", Kind: history.Read, Found: true, Read: v, Outcome: history.OK, Call: 100*i + 20, Return: 100*i + 30})
	}
	ops[21].Read = "v3" // long overwritten by then
	w := shrink(ops)
	if len(w) != 12 { // the writes v0 to v10 and the stale read
		t.Fatalf("%d operations left: %v", len(w), w)
	}
	if last := w[len(w)-1]; last.Read != "v3" {
		t.Fatalf("the witness ends with %v", last)
	}
}
