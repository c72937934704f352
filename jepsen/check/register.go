package check

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// keyLimit bounds the work on one key. A key of 200 operations takes
// milliseconds; one that needs longer is reported as undecided.
const keyLimit = 30 * time.Second

// registers is the sequential model: a register is absent (the empty string, no
// client writes it) or holds a value. An operation of unknown outcome is always
// possible; whether it took effect, the order decides.
var registers = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		return step(state.(string), input.(history.Op))
	},
	DescribeOperation: func(input, _ any) string { return input.(history.Op).Describe() },
	DescribeState: func(state any) string {
		if state == "" {
			return "absent"
		}
		return state.(string)
	},
}

// step says whether a register in the given state can answer as the operation
// was answered, and its state afterwards.
func step(state string, op history.Op) (bool, string) {
	applies := true // whether the operation's condition holds here
	switch op.Kind {
	case history.Read:
		return !op.Known() || op.Found == (state != "") && op.Read == state, state
	case history.Create:
		applies = state == ""
	case history.CompareAndSet:
		applies = state == op.Expect
	}
	answered := !op.Known() || op.Kind == history.Write || op.Found == applies
	if applies {
		return answered, op.Value
	}
	return answered, state
}

// Registers checks that each key's history is linearizable.
func Registers(ops []history.Op) Report {
	keys := history.ByKey(ops)
	report := Report{Ops: len(ops), Keys: len(keys), Anomalies: malformed(ops)}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		switch judge(keys[key]) {
		case porcupine.Illegal:
			report.Anomalies = append(report.Anomalies, Anomaly{
				Kind: "not linearizable", Key: key,
				Detail:  fmt.Sprintf("no order explains the %d operations; the fewest that none explains:", len(keys[key])),
				Witness: shrink(keys[key]),
			})
		case porcupine.Unknown:
			report.Anomalies = append(report.Anomalies, Anomaly{
				Kind: "undecided", Key: key,
				Detail: fmt.Sprintf("%d operations not decided in %v", len(keys[key]), keyLimit),
			})
		}
	}
	return report
}

// judge decides one key's history.
func judge(ops []history.Op) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(registers, operations(ops), keyLimit)
}

// operations turns a key's history into the checker's form. What was not applied
// has no place in it, nor has a read without an answer; a write of unknown
// outcome stays open for ever.
func operations(ops []history.Op) []porcupine.Operation {
	var out []porcupine.Operation
	for _, op := range ops {
		if op.Outcome == history.NotApplied || op.Kind == history.Read && !op.Known() {
			continue
		}
		end := op.Return
		if !op.Known() {
			end = history.Never
		}
		out = append(out, porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Call, Return: end})
	}
	return out
}
