package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// Counters checks counters that only grow. For every answered operation:
//
//   - its value is at least the sum of all additions acknowledged before it was
//     called, and at least every value that anyone had seen by then;
//   - its value is at most the sum of all additions called before it returned
//     that may have happened;
//   - no two acknowledged additions cover the same part of the count.
//
// A read after the last addition, through which a lost one would show, must exist.
// With no unknown outcome the bounds meet there, so the final value is exact.
func Counters(ops []history.Op) Report {
	keys := history.ByKey(ops)
	report := Report{Ops: len(ops), Keys: len(keys), Anomalies: malformed(ops)}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c := &counter{key: key, ops: keys[key]}
		c.bounds()
		c.overlaps()
		c.finalRead()
		report.Anomalies = append(report.Anomalies, c.found...)
	}
	return report
}

// counter is one key under examination.
type counter struct {
	key   string
	ops   []history.Op
	found []Anomaly
}

func (c *counter) report(kind, detail string, witness ...history.Op) {
	c.found = append(c.found, Anomaly{Kind: kind, Key: c.key, Detail: detail, Witness: witness})
}

// value is the count that an answered operation saw or made. A missing key
// counts zero.
func value(op history.Op) (n int64, err error) {
	if op.Kind == history.Add {
		return op.Sum, nil
	}
	if !op.Found {
		return 0, nil
	}
	_, err = fmt.Sscan(op.Read, &n)
	return n, err
}

// moment is a call or a return, in real-time order.
type moment struct {
	at  int64
	end bool
	op  int
}

// moments orders calls and returns. At equal times a call comes first: the two
// operations then count as concurrent.
func (c *counter) moments() []moment {
	var all []moment
	for i, op := range c.ops {
		if op.Outcome == history.NotApplied {
			continue
		}
		all = append(all, moment{at: op.Call, op: i})
		if op.Known() {
			all = append(all, moment{at: op.Return, end: true, op: i})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		switch {
		case a.at != b.at && a.at < b.at:
			return -1
		case a.at != b.at:
			return 1
		case a.end == b.end:
			return 0
		case a.end:
			return 1
		default:
			return -1
		}
	})
	return all
}

// bounds walks through real time and holds every value against what was
// acknowledged before its operation began and possible before it ended.
func (c *counter) bounds() {
	var acknowledged, possible, seen int64
	var last history.Op             // the operation that saw the highest value
	floors := map[int][2]int64{}    // at each call: acknowledged, seen
	witness := map[int]history.Op{} // at each call: last
	for _, m := range c.moments() {
		op := c.ops[m.op]
		if !m.end {
			possible += op.Delta
			floors[m.op], witness[m.op] = [2]int64{acknowledged, seen}, last
			continue
		}
		n, err := value(op)
		floor := floors[m.op]
		switch {
		case err != nil:
			c.report("malformed value", fmt.Sprintf("%q is no number", op.Read), op)
			continue
		case n < floor[1]+op.Delta:
			c.report("went back", fmt.Sprintf("%d after %d had been seen", n, floor[1]), witness[m.op], op)
		case n < floor[0]+op.Delta:
			c.report("lost", fmt.Sprintf("%d after %d were acknowledged", n, floor[0]), op)
		case n > possible:
			c.report("too much", fmt.Sprintf("%d while at most %d was asked for", n, possible), op)
		}
		acknowledged += op.Delta
		if n > seen {
			seen, last = n, op
		}
	}
}

// overlaps looks for two acknowledged additions that share a part of the count:
// each answer n to an addition of d stands for the part from n-d to n.
func (c *counter) overlaps() {
	var adds []history.Op
	for _, op := range c.ops {
		if op.Kind == history.Add && op.Known() {
			adds = append(adds, op)
		}
	}
	slices.SortStableFunc(adds, func(a, b history.Op) int { return int(a.Sum - b.Sum) })
	for i := 1; i < len(adds); i++ {
		before, op := adds[i-1], adds[i]
		if op.Sum-op.Delta < before.Sum {
			c.report("counted once for two", fmt.Sprintf("additions answered with %d and %d", before.Sum, op.Sum), before, op)
		}
	}
}

// finalRead demands an answered read called after every known addition returned.
func (c *counter) finalRead() {
	lastAdd := int64(-1)
	for _, op := range c.ops {
		if op.Kind == history.Add && op.Known() {
			lastAdd = max(lastAdd, op.Return)
		}
	}
	for _, op := range c.ops {
		if op.Kind == history.Read && op.Known() && op.Call > lastAdd {
			return
		}
	}
	c.report("unchecked", "no answered read after the last addition")
}
