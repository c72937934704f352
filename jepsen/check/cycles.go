package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/jepsen/history"
)

// connect draws the edges between all operations.
func (a *appends) connect() {
	a.graph = newGraph(len(a.ops))
	a.unseen()
	for key, order := range a.order {
		for i := 1; i < len(order); i++ {
			a.graph.add(a.writer[element{key, order[i-1]}], a.writer[element{key, order[i]}], writeWrite, key, order[i])
		}
	}
	for i, op := range a.ops {
		if !op.Known() {
			continue
		}
		for _, p := range op.Parts {
			if p.Kind == history.Read {
				a.connectRead(i, p)
			}
		}
	}
	a.realTime()
}

// unseen puts an acknowledged append that no read has seen behind all that were, where
// it is the only one of its list: of several, the order is not known.
func (a *appends) unseen() {
	seen := map[element]bool{}
	for key, order := range a.order {
		for _, v := range order {
			seen[element{key, v}] = true
		}
	}
	left := map[string][]string{}
	for _, op := range a.ops {
		for _, p := range op.Parts {
			if _, read := a.order[p.Key]; read && op.Known() && p.Kind == history.Append && !seen[element{p.Key, p.Value}] {
				left[p.Key] = append(left[p.Key], p.Value)
			}
		}
	}
	for key, values := range left {
		if len(values) == 1 {
			a.order[key] = append(slices.Clone(a.order[key]), values[0])
		}
	}
}

// connectRead draws the edges of one read: from who appended its last value, and to who
// appended the value behind it.
func (a *appends) connectRead(reader int, p history.Part) {
	order := a.order[p.Key]
	if n := len(p.List); n > 0 {
		a.graph.add(a.writer[element{p.Key, p.List[n-1]}], reader, writeRead, p.Key, p.List[n-1])
	}
	if n := len(p.List); n < len(order) {
		a.graph.add(reader, a.writer[element{p.Key, order[n]}], readWrite, p.Key, order[n])
	}
}

// realTime draws an edge from each operation to those called after it returned, but for
// edges that follow from others: only the operations that returned last before a call,
// with none in between, need one.
func (a *appends) realTime() {
	calls := make([]int, len(a.ops))
	for i := range calls {
		calls[i] = i
	}
	returns := slices.DeleteFunc(slices.Clone(calls), func(i int) bool { return a.ops[i].Return == history.Never })
	slices.SortFunc(calls, func(i, j int) int { return cmp.Compare(a.ops[i].Call, a.ops[j].Call) })
	slices.SortFunc(returns, func(i, j int) int { return cmp.Compare(a.ops[i].Return, a.ops[j].Return) })
	var front []int // returned, and no operation was called and returned since
	for _, i := range calls {
		for len(returns) > 0 && a.ops[returns[0]].Return < a.ops[i].Call {
			done := returns[0]
			returns = returns[1:]
			front = slices.DeleteFunc(front, func(f int) bool { return a.ops[f].Return < a.ops[done].Call })
			front = append(front, done)
		}
		for _, f := range front {
			a.graph.add(f, i, inRealTime, "", "")
		}
	}
}

// cycles reports one cycle of each part of the graph that has any: the gravest.
func (a *appends) cycles() {
	nodes := make([]int, len(a.ops))
	for i := range nodes {
		nodes[i] = i
	}
	for _, part := range a.graph.components(nodes, dependency|inRealTime) {
		name, cycle := a.gravest(part)
		a.explain(name, cycle)
	}
}

// sought are the kinds of cycles, the gravest first.
var sought = []struct {
	name  string
	kinds int
	find  func(g *graph, part []int, kinds int) []link
}{
	{"G0", writeWrite, shortest},
	{"G1c", noAntiEdges, shortest},
	{"G-single", noAntiEdges, single},
	{"G2", dependency, shortest},
}

// gravest names the gravest cycle of a part: each kind without real time, then with it.
func (a *appends) gravest(part []int) (string, []link) {
	for _, time := range []struct {
		suffix string
		kinds  int
	}{{"", 0}, {"-realtime", inRealTime}} {
		for _, s := range sought {
			if cycle := s.find(a.graph, part, s.kinds|time.kinds); cycle != nil {
				return s.name + time.suffix, cycle
			}
		}
	}
	panic("a part of the graph that is strongly connected has no cycle")
}

// searches bounds the work for a short witness; that there is a cycle is known by then.
const searches = 200

// shortest is a short cycle over edges of some kinds: the shortest from any of the first
// nodes of the smallest part that has one. Real time alone has none.
func shortest(g *graph, nodes []int, kinds int) (best []link) {
	parts := g.components(nodes, kinds)
	if len(parts) == 0 {
		return nil
	}
	part := slices.MinFunc(parts, func(a, b []int) int { return len(a) - len(b) })
	within := set(part)
	for _, node := range part[:min(len(part), searches)] {
		cycle := g.path(node, node, kinds, within)
		if best == nil || len(cycle) < len(best) {
			best = cycle
		}
	}
	return best
}

// single is a short cycle with exactly one edge by which something was missed. In a part
// with very many such edges only some are followed back; what is then not found here is
// reported as G2, which it also is.
func single(g *graph, nodes []int, kinds int) (best []link) {
	tries := 0
	for _, part := range g.components(nodes, kinds|readWrite) {
		within := set(part)
		for _, node := range part {
			for _, e := range g.out[node] {
				if e.kind != readWrite || !within[e.to] || tries > 10*searches {
					continue
				}
				tries++
				back := g.path(e.to, node, kinds, within)
				if back != nil && (best == nil || len(back)+1 < len(best)) {
					best = append([]link{{node, e}}, back...)
				}
			}
		}
	}
	return best
}

func set(nodes []int) map[int]bool {
	m := make(map[int]bool, len(nodes))
	for _, n := range nodes {
		m[n] = true
	}
	return m
}

// explain reports a cycle with the reason of every step.
func (a *appends) explain(name string, cycle []link) {
	var why []string
	var witness []history.Op
	for i, s := range cycle {
		next := (i + 1) % len(cycle)
		witness = append(witness, a.ops[s.from])
		switch s.edge.kind {
		case writeWrite:
			why = append(why, fmt.Sprintf("T%d appended %s to %s right behind T%d", next+1, s.edge.why, s.edge.key, i+1))
		case writeRead:
			why = append(why, fmt.Sprintf("T%d read %s, which T%d had appended to %s", next+1, s.edge.why, i+1, s.edge.key))
		case readWrite:
			why = append(why, fmt.Sprintf("T%d read %s before T%d appended %s", i+1, s.edge.key, next+1, s.edge.why))
		default:
			why = append(why, fmt.Sprintf("T%d returned before T%d was called", i+1, next+1))
		}
	}
	a.report(name, "lists", strings.Join(why, "; "), witness...)
}
