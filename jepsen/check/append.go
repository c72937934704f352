package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// Appends checks transactions that append unique values to lists and read lists. The
// longest read of a list tells the order of its appends, so that everything that must
// stand before something else is known without guessing. What contradicts itself is
// reported by the names of Adya's phenomena:
//
//	G0        appends of two transactions are interleaved
//	G1a       something that was not applied was read
//	G1b       a list was read between two appends of one transaction
//	G1c       two transactions each saw what the other had appended
//	G-single  a cycle in which one transaction missed what another had appended
//	G2        a cycle in which several did
//
// and, with "-realtime" behind them, cycles that exist only because one transaction was
// called after another had returned. In addition, appends that were acknowledged and are
// missing in a later read, values that stand twice, values that nobody appended, reads of
// one list that contradict each other, and a transaction that misses its own appends.
func Appends(ops []history.Op) Report {
	a := &appends{ops: settled(ops), writer: map[element]int{}, refused: map[element]history.Op{}, order: map[string][]string{}}
	report := Report{Ops: len(ops), Anomalies: malformed(ops)}
	a.index(ops)
	a.reads()
	report.Keys = len(a.order)
	if len(a.found) == 0 { // cycles among lists that have no order would mean nothing
		a.connect()
		a.cycles()
	}
	report.Anomalies = append(report.Anomalies, a.found...)
	return report
}

// element is one value of one list.
type element struct{ key, value string }

// appends is a history under examination.
type appends struct {
	ops     []history.Op // what took effect or may have
	writer  map[element]int
	refused map[element]history.Op // appended by what was not applied
	order   map[string][]string    // the longest read of each list
	longest map[string]int         // who read it
	latest  map[string]int         // the answered read that was called last
	graph   *graph
	found   []Anomaly
}

func (a *appends) report(kind, key, detail string, witness ...history.Op) {
	a.found = append(a.found, Anomaly{Kind: kind, Key: key, Detail: detail, Witness: witness})
}

// settled leaves out what certainly took no effect. An operation of unknown outcome has
// no results and no end.
func settled(ops []history.Op) (kept []history.Op) {
	for _, op := range ops {
		if op.Outcome == history.NotApplied {
			continue
		}
		if !op.Known() {
			op.Return = history.Never
		}
		kept = append(kept, op)
	}
	return kept
}

// index notes who appended what.
func (a *appends) index(all []history.Op) {
	for i, op := range a.ops {
		for _, p := range op.Parts {
			if p.Kind == history.Append {
				a.writer[element{p.Key, p.Value}] = i
			}
		}
	}
	for _, op := range all {
		for _, p := range op.Parts {
			if p.Kind == history.Append && op.Outcome == history.NotApplied {
				a.refused[element{p.Key, p.Value}] = op
			}
		}
	}
}

// reads judges every read by itself and finds the order of each list.
func (a *appends) reads() {
	a.longest, a.latest = map[string]int{}, map[string]int{}
	for i, op := range a.ops {
		if !op.Known() {
			continue
		}
		a.ownAppends(op)
		for _, p := range op.Parts {
			if p.Kind != history.Read {
				continue
			}
			a.values(op, p)
			if last, met := a.latest[p.Key]; !met || op.Call > a.ops[last].Call {
				a.latest[p.Key] = i
			}
			if _, met := a.longest[p.Key]; !met || len(p.List) > len(a.order[p.Key]) {
				a.order[p.Key], a.longest[p.Key] = p.List, i
			}
		}
	}
	for _, op := range a.ops {
		for _, p := range op.Parts {
			if op.Known() && p.Kind == history.Read {
				a.prefix(op, p)
			}
		}
	}
	a.lost()
}

// values judges the values of one read list.
func (a *appends) values(op history.Op, p history.Part) {
	seen := map[string]bool{}
	for _, v := range p.List {
		w, known := a.writer[element{p.Key, v}]
		refused, undone := a.refused[element{p.Key, v}]
		switch {
		case seen[v]:
			a.report("duplicate append", p.Key, v+" stands twice in the list", op)
		case undone:
			a.report("G1a", p.Key, v+" was read, and its append was not applied", refused, op)
		case !known:
			a.report("never appended", p.Key, v+" was read and nobody appended it", op)
		case a.ops[w].Call > op.Return:
			a.report("from the future", p.Key, v+" was read before it was appended", op, a.ops[w])
		}
		seen[v] = true
	}
}

// prefix holds a read against the order of its list.
func (a *appends) prefix(op history.Op, p history.Part) {
	order := a.order[p.Key]
	if len(p.List) > len(order) || !slices.Equal(p.List, order[:len(p.List)]) {
		a.report("incompatible order", p.Key, "two reads of the list contradict each other", op, a.ops[a.longest[p.Key]])
		return
	}
	if len(p.List) == 0 || len(p.List) == len(order) {
		return
	}
	last, next := a.writer[element{p.Key, p.List[len(p.List)-1]}], a.writer[element{p.Key, order[len(p.List)]}]
	if last == next && !a.same(op, last) {
		a.report("G1b", p.Key, fmt.Sprintf("%s was read and %s, of the same transaction, was not", p.List[len(p.List)-1], order[len(p.List)]), a.ops[last], op)
	}
}

// same says whether the operation is the i-th.
func (a *appends) same(op history.Op, i int) bool {
	return op.Call == a.ops[i].Call && op.Client == a.ops[i].Client
}

// ownAppends: a transaction sees what it appended before.
func (a *appends) ownAppends(op history.Op) {
	own := map[string][]string{}
	for _, p := range op.Parts {
		if p.Kind == history.Append {
			own[p.Key] = append(own[p.Key], p.Value)
			continue
		}
		mine := own[p.Key]
		if len(p.List) < len(mine) || !slices.Equal(p.List[len(p.List)-len(mine):], mine) {
			a.report("internal", p.Key, "a transaction does not see what it appended itself", op)
		}
	}
}

// lost looks for acknowledged appends that a later read misses.
func (a *appends) lost() {
	for _, key := range slices.Sorted(maps.Keys(a.order)) {
		a.lostOf(key)
	}
	for i, op := range a.ops {
		for _, p := range op.Parts {
			if op.Known() && p.Kind == history.Append && !a.readAfter(p.Key, i) {
				a.report("unchecked", p.Key, "no answered read of the list after its last append", op)
				return
			}
		}
	}
}

// lostOf looks in one list: each append that returned before a read was called must be
// in it. Only the latest read decides, since the lists are prefixes of each other.
func (a *appends) lostOf(key string) {
	in := map[string]bool{}
	for _, v := range a.order[key] {
		in[v] = true
	}
	last := a.latest[key]
	for _, op := range a.ops {
		for _, p := range op.Parts {
			if p.Kind == history.Append && p.Key == key && op.Known() && !in[p.Value] && op.Return < a.ops[last].Call {
				a.report("lost append", key, p.Value+" was acknowledged and a later read misses it", op, a.ops[last])
			}
		}
	}
}

// readAfter says whether the list was read after the i-th operation returned.
func (a *appends) readAfter(key string, i int) bool {
	last, met := a.latest[key]
	return met && a.ops[last].Call > a.ops[i].Return
}
