package check

import (
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// shrink reduces a history that is not linearizable to few operations that
// still show it. Every step keeps the claim sound: a linearizable history stays
// linearizable when it is cut off at some moment or when operations that change
// nothing are left out, so what is illegal afterwards was illegal before.
func shrink(ops []history.Op) []history.Op {
	ops = shortestPrefix(ops)
	for i := len(ops) - 1; i >= 0; i-- {
		if changesNothing(ops[i]) {
			if rest := slices.Delete(slices.Clone(ops), i, i+1); illegal(rest) {
				ops = rest
			}
		}
	}
	return ops
}

// shortestPrefix finds, by bisection over the moments of return, the earliest
// cut at which the history is already illegal.
func shortestPrefix(ops []history.Op) []history.Op {
	var moments []int64
	for _, op := range ops {
		if op.Known() {
			moments = append(moments, op.Return)
		}
	}
	slices.Sort(moments)
	low, high := 0, len(moments)-1
	for low < high {
		middle := (low + high) / 2
		if illegal(cut(ops, moments[middle])) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	if high < 0 {
		return ops
	}
	return cut(ops, moments[high])
}

// cut keeps what had been called by the given moment. What had not returned by
// then has an unknown outcome.
func cut(ops []history.Op, moment int64) []history.Op {
	var kept []history.Op
	for _, op := range ops {
		if op.Call > moment || op.Outcome == history.NotApplied {
			continue
		}
		if !op.Known() || op.Return > moment {
			if op.Kind == history.Read {
				continue
			}
			op.Outcome, op.Return, op.Found = history.Unknown, history.Never, false
		}
		kept = append(kept, op)
	}
	return kept
}

// changesNothing says whether the operation certainly left its register alone.
func changesNothing(op history.Op) bool {
	conditional := op.Kind == history.Create || op.Kind == history.CompareAndSet
	return op.Kind == history.Read || conditional && op.Known() && !op.Found
}

func illegal(ops []history.Op) bool { return judge(ops) == porcupine.Illegal }
