package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// Replay is a second checker, independent of the others. Replies carry the place in the log at
// which an operation took effect. Replay performs all operations with a place on a plain model,
// in that order, and compares the replies with those that the clients got. The order of places
// must also respect real time: an operation that was called after another had returned has a
// later place. It takes n log n time, so it covers every operation of a run.
//
// An operation of unknown outcome has no place. It counts as applied where a reply first shows its
// value, which is unique. Additions have no unique values: a counter may jump by any sum of
// unknown additions.
//
// A wrong place would mislead Replay, so the other checkers remain necessary.
func Replay(ops []history.Op) Report {
	report := Report{Ops: len(ops)}
	var placed []history.Op
	r := &replay{state: map[string]*cell{}, open: map[string][]history.Op{}}
	for _, op := range ops {
		switch {
		case op.Outcome == history.NotApplied || op.Stale || op.Kind == history.Publish:
		case op.Known() && op.Place.Known():
			placed = append(placed, op)
		default:
			r.leaveOpen(op)
		}
	}
	slices.SortStableFunc(placed, comparePlaces)
	report.Anomalies = append(report.Anomalies, outOfTime(placed)...)
	for _, op := range placed {
		r.perform(op)
	}
	report.Keys = len(r.state)
	report.Anomalies = append(report.Anomalies, r.found...)
	return report
}

// comparePlaces orders by place, reads of one state by their calls.
func comparePlaces(a, b history.Op) int {
	return cmp.Or(cmp.Compare(a.Place.Index, b.Place.Index), cmp.Compare(a.Place.Nth, b.Place.Nth), cmp.Compare(a.Call, b.Call))
}

// outOfTime walks backwards through the places: no operation may have been called after
// one behind it had returned.
func outOfTime(placed []history.Op) (found []Anomaly) {
	var first history.Op // of those behind, the one that returned first
	first.Return = history.Never
	for end := len(placed); end > 0; {
		begin := end - 1
		for begin > 0 && placed[begin-1].Place == placed[end-1].Place {
			begin-- // reads of one state stand beside each other
		}
		for _, op := range placed[begin:end] {
			if op.Call > first.Return {
				found = append(found, Anomaly{Kind: "out of time", Key: op.Key, Detail: fmt.Sprintf("called after an operation had returned that stands behind it in the log (%v, %v)", op.Place, first.Place), Witness: []history.Op{first, op}})
			}
		}
		for _, op := range placed[begin:end] {
			if op.Return < first.Return {
				first = op
			}
		}
		end = begin
	}
	return found
}

// cell is a key of the model.
type cell struct {
	found   bool
	text    string
	members map[string]bool
	list    []string
	last    history.Op // that changed it
	slack   int64      // what open additions may still add
	slackTo int64      // and take
}

// replay is the model.
type replay struct {
	state map[string]*cell
	open  map[string][]history.Op // of unknown outcome, by what would show them
	found []Anomaly
}

func (r *replay) cell(key string) *cell {
	c := r.state[key]
	if c == nil {
		c = &cell{members: map[string]bool{}}
		r.state[key] = c
	}
	return c
}

func (r *replay) wrong(op history.Op, key string, want any) {
	r.found = append(r.found, Anomaly{Kind: "replay differs", Key: key, Detail: fmt.Sprintf("at %d.%d the model has %v", op.Place.Index, op.Place.Nth, want), Witness: []history.Op{r.cell(key).last, op}})
}

// leaveOpen remembers what may happen at some time.
func (r *replay) leaveOpen(op history.Op) {
	switch op.Kind {
	case history.Write, history.Create, history.CompareAndSet, history.Insert:
		r.open[op.Key+" "+op.Value] = append(r.open[op.Key+" "+op.Value], op)
	case history.Add:
		r.mayAdd(op.Key, op.Delta)
	case history.Move:
		r.mayAdd(op.Key, -op.Delta)
		r.mayAdd(op.Value, op.Delta)
	}
	for _, p := range op.Parts {
		switch p.Kind {
		case history.Append:
			r.open[p.Key+" "+p.Value] = append(r.open[p.Key+" "+p.Value], op)
		case history.Add:
			r.mayAdd(p.Key, p.Delta)
		}
	}
}

func (r *replay) mayAdd(key string, delta int64) {
	c := r.cell(key)
	c.slack += max(delta, 0)
	c.slackTo += min(delta, 0)
}

// happened says whether an operation of unknown outcome that was called before this one
// returned explains the value, and performs it if so.
func (r *replay) happened(op history.Op, key, value string) bool {
	return slices.ContainsFunc(r.open[key+" "+value], func(o history.Op) bool { return o.Call < op.Return })
}

// perform runs one operation on the model and compares.
func (r *replay) perform(op history.Op) {
	switch op.Kind {
	case history.Read:
		if strings.HasPrefix(op.Key, "counter:") {
			n, _ := strconv.ParseInt(op.Read, 10, 64)
			r.number(op, op.Key, 0, n)
			return
		}
		r.register(op, op.Found, op.Read)
	case history.Write:
		r.put(op, op.Value)
	case history.Create, history.CompareAndSet:
		r.conditional(op)
	case history.Add:
		r.number(op, op.Key, op.Delta, op.Sum)
	case history.Insert:
		r.insert(op)
	case history.Members:
		r.members(op)
	case history.Move:
		r.move(op)
	case history.Balances:
		for i, text := range op.List {
			n, _ := strconv.ParseInt(text, 10, 64)
			r.number(op, fmt.Sprintf("%s:%d", op.Key, i), 0, n)
		}
	default:
		r.parts(op)
	}
}

// move performs a transfer of the guarded bank.
func (r *replay) move(op history.Op) {
	from, to := r.cell(op.Key), r.cell(op.Value)
	if from.slack == 0 && from.slackTo == 0 && op.Found != (from.number(op.Key) >= op.Delta) {
		r.wrong(op, op.Key, from.number(op.Key))
	}
	if op.Found {
		from.set(from.number(op.Key)-op.Delta, op)
		to.set(to.number(op.Value)+op.Delta, op)
	}
}

// number is the value of a counter or an account.
func (c *cell) number(key string) int64 {
	if !c.found && (strings.HasPrefix(key, Transacted+":") || strings.HasPrefix(key, Guarded+":")) {
		return Opening
	}
	n, _ := strconv.ParseInt(c.text, 10, 64)
	return n
}

func (c *cell) set(n int64, by history.Op) {
	c.found, c.text, c.last = true, strconv.FormatInt(n, 10), by
}

// register compares a read of a register.
func (r *replay) register(op history.Op, found bool, value string) {
	c := r.cell(op.Key)
	if c.found == found && c.text == value {
		return
	}
	if found && r.happened(op, op.Key, value) {
		c.found, c.text, c.last = true, value, op
		return
	}
	r.wrong(op, op.Key, fmt.Sprintf("%q", c.text))
}

func (r *replay) put(op history.Op, value string) {
	c := r.cell(op.Key)
	c.found, c.text, c.last = true, value, op
}

// conditional compares whether a condition held. Where it didn't by the model, or did,
// only an open write may explain it, whose value the next read then has to show.
func (r *replay) conditional(op history.Op) {
	c := r.cell(op.Key)
	holds := !c.found
	if op.Kind == history.CompareAndSet {
		holds = c.found && c.text == op.Expect
	}
	if holds != op.Found && !r.anyOpen(op) {
		r.wrong(op, op.Key, fmt.Sprintf("%q", c.text))
	}
	if op.Found {
		r.put(op, op.Value)
	}
}

// anyOpen says whether a write of unknown outcome to the key may have come before: of a
// comparison that held the one of that value, else any.
func (r *replay) anyOpen(op history.Op) bool {
	if op.Kind == history.CompareAndSet && op.Found {
		return r.happened(op, op.Key, op.Expect)
	}
	if op.Kind == history.Create && op.Found {
		return false // nothing makes a register absent again
	}
	for _, open := range r.open {
		for _, o := range open {
			if o.Key == op.Key && o.Call < op.Return {
				return true
			}
		}
	}
	return false
}

// number compares a counter after an addition, or a read of one (which adds nothing).
func (r *replay) number(op history.Op, key string, delta, got int64) {
	c := r.cell(key)
	n := c.number(key)
	switch jump := got - n - delta; {
	case jump > 0 && jump <= c.slack:
		c.slack -= jump
	case jump < 0 && jump >= c.slackTo:
		c.slackTo -= jump
	case jump != 0:
		r.wrong(op, key, n)
	}
	c.set(got, op)
}

func (r *replay) insert(op history.Op) {
	c := r.cell(op.Key)
	if c.members[op.Value] == op.Found && !r.happened(op, op.Key, op.Value) {
		r.wrong(op, op.Key, fmt.Sprintf("%d members", len(c.members)))
	}
	c.members[op.Value], c.last = true, op
}

// members compares a whole set.
func (r *replay) members(op history.Op) {
	c := r.cell(op.Key)
	seen := map[string]bool{}
	for _, m := range op.List {
		if seen[m] = true; !c.members[m] && !r.happened(op, op.Key, m) {
			r.wrong(op, op.Key, "no "+m)
		}
		c.members[m] = true
	}
	for _, m := range slices.Sorted(maps.Keys(c.members)) {
		if !seen[m] {
			r.wrong(op, op.Key, m+" too")
		}
	}
}

// parts performs a transaction.
func (r *replay) parts(op history.Op) {
	for _, p := range op.Parts {
		c := r.cell(p.Key)
		switch p.Kind {
		case history.Append:
			c.list, c.last = append(c.list, p.Value), op
		case history.Add:
			r.number(op, p.Key, p.Delta, p.Sum)
		case history.Read:
			r.list(op, p)
		}
	}
}

// list compares a read list. Values behind those of the model may be of unknown outcome.
func (r *replay) list(op history.Op, p history.Part) {
	c := r.cell(p.Key)
	at := 0
	for _, v := range p.List {
		switch {
		case at < len(c.list) && c.list[at] == v:
			at++
		case r.happened(op, p.Key, v):
			c.list = slices.Insert(c.list, at, v)
			at++
		default:
			r.wrong(op, p.Key, c.list)
			return
		}
	}
	if at < len(c.list) {
		r.wrong(op, p.Key, c.list)
	}
}
