package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// Expiries checks keys that are set once, each for a time, and read together with cluster
// time. A key is there until its moment and not afterwards, both by that clock; once it
// was seen to be gone it stays gone; and the clock never goes back, from one operation to
// another that was called after it returned.
func Expiries(ops []history.Op) Report {
	keys := history.ByKey(ops)
	report := Report{Ops: len(ops), Keys: len(keys), Anomalies: malformed(ops)}
	add := func(a Anomaly) { report.Anomalies = append(report.Anomalies, a) }
	for key, all := range keys {
		expiry(key, all, add)
	}
	clockGoesOn(ops, add)
	slices.SortStableFunc(report.Anomalies, func(a, b Anomaly) int { return cmp.Compare(a.Key, b.Key) })
	return report
}

// expiry judges the reads of one key.
func expiry(key string, ops []history.Op, add func(Anomaly)) {
	var set history.Op
	for _, op := range ops {
		if op.Kind == history.Expiring {
			set = op
		}
	}
	var gone *history.Op // the read that saw it gone and returned first
	for i, op := range ops {
		if op.Kind != history.Timed || !op.Known() {
			continue
		}
		after := set.Known() && op.Call > set.Return
		report := func(kind, detail string, witness ...history.Op) {
			add(Anomaly{Kind: kind, Key: key, Detail: detail, Witness: append([]history.Op{set}, witness...)})
		}
		switch {
		case op.Found && set.Outcome == history.NotApplied:
			report("not applied", "the key is there and was never to be", op)
		case op.Found && set.Known() && op.Sum >= set.Sum:
			report("late", fmt.Sprintf("the key is there %d ms after its end", op.Sum-set.Sum), op)
		case !op.Found && after && op.Sum < set.Sum:
			report("early", fmt.Sprintf("the key is gone %d ms before its end", set.Sum-op.Sum), op)
		}
		if !op.Found && after && (gone == nil || op.Return < gone.Return) {
			gone = &ops[i]
		}
	}
	for _, op := range ops {
		if op.Kind == history.Timed && op.Known() && op.Found && gone != nil && op.Call > gone.Return {
			add(Anomaly{Kind: "came back", Key: key, Detail: "the key was gone and is there again", Witness: []history.Op{set, *gone, op}})
		}
	}
}

// clockGoesOn compares each reading of cluster time with the latest that had returned
// before it was called.
func clockGoesOn(ops []history.Op, add func(Anomaly)) {
	var reads []history.Op
	for _, op := range ops {
		if op.Kind == history.Timed && op.Known() {
			reads = append(reads, op)
		}
	}
	returned := slices.Clone(reads)
	slices.SortFunc(reads, func(a, b history.Op) int { return cmp.Compare(a.Call, b.Call) })
	slices.SortFunc(returned, func(a, b history.Op) int { return cmp.Compare(a.Return, b.Return) })
	var latest history.Op
	for _, op := range reads {
		for len(returned) > 0 && returned[0].Return < op.Call {
			if returned[0].Sum > latest.Sum {
				latest = returned[0]
			}
			returned = returned[1:]
		}
		if op.Sum < latest.Sum {
			add(Anomaly{Kind: "clock went back", Key: op.Key, Detail: fmt.Sprintf("by %d ms", latest.Sum-op.Sum), Witness: []history.Op{latest, op}})
		}
	}
}
