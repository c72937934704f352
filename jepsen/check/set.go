package check

import (
	"cmp"
	"maps"
	"slices"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// Sets checks sets that only grow, whose members are unique. A member must be in every
// read that was called after its insertion was acknowledged, or after any read that
// showed it had returned; and in none if nobody inserted it, if its insertion was not
// applied, or if that was called only after the read had returned. Reads through all
// nodes at the end must exist and agree.
func Sets(ops []history.Op) Report {
	keys := history.ByKey(ops)
	report := Report{Ops: len(ops), Keys: len(keys), Anomalies: malformed(ops)}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		s := &growing{key: key, inserts: map[string]history.Op{}, shown: map[string]history.Op{}}
		s.judge(keys[key])
		report.Anomalies = append(report.Anomalies, s.found...)
	}
	return report
}

// growing is one set under examination.
type growing struct {
	key     string
	inserts map[string]history.Op
	shown   map[string]history.Op // the read that showed a member and returned first
	found   []Anomaly
}

func (g *growing) report(kind, detail string, witness ...history.Op) {
	g.found = append(g.found, Anomaly{Kind: kind, Key: g.key, Detail: detail, Witness: witness})
}

func (g *growing) judge(ops []history.Op) {
	var reads []history.Op
	for _, op := range ops {
		switch {
		case op.Kind == history.Insert:
			g.inserts[op.Value] = op
		case op.Kind == history.Members && op.Known():
			reads = append(reads, op)
		}
	}
	slices.SortFunc(reads, func(a, b history.Op) int { return cmp.Compare(a.Return, b.Return) })
	for _, read := range reads {
		for _, m := range read.List {
			if _, met := g.shown[m]; !met {
				g.shown[m] = read
			}
		}
	}
	for _, read := range reads {
		g.tooMuch(read)
		g.tooLittle(read)
	}
	g.final(ops, reads)
}

// tooMuch looks for members that can't be there.
func (g *growing) tooMuch(read history.Op) {
	seen := map[string]bool{}
	for _, m := range read.List {
		insert, known := g.inserts[m]
		switch {
		case seen[m]:
			g.report("twice", m+" is in the set twice", read)
		case !known:
			g.report("phantom", m+" is in the set and nobody inserted it", read)
		case insert.Outcome == history.NotApplied:
			g.report("not applied", m+" is in the set and was not to be", insert, read)
		case insert.Call > read.Return:
			g.report("from the future", m+" was read before it was inserted", read, insert)
		}
		seen[m] = true
	}
}

// tooLittle looks for members that are missing.
func (g *growing) tooLittle(read history.Op) {
	in := map[string]bool{}
	for _, m := range read.List {
		in[m] = true
	}
	for _, m := range slices.Sorted(maps.Keys(g.inserts)) {
		if in[m] {
			continue
		}
		if insert := g.inserts[m]; insert.Known() && insert.Return < read.Call {
			g.report("lost", m+" was acknowledged and a later read misses it", insert, read)
		} else if first, met := g.shown[m]; met && first.Return < read.Call {
			g.report("went back", m+" was read and a later read misses it", first, read)
		}
	}
}

// final demands a read after the last known insertion.
func (g *growing) final(ops, reads []history.Op) {
	last := int64(-1)
	for _, op := range ops {
		if op.Kind == history.Insert && op.Known() {
			last = max(last, op.Return)
		}
	}
	if last >= 0 && !slices.ContainsFunc(reads, func(r history.Op) bool { return r.Call > last }) {
		g.report("unchecked", "no answered read after the last insertion")
	}
}
