package check

import "slices"

// edge kinds, a bit each, so that a search can say which it may follow.
const (
	writeWrite  = 1 << iota // the second appended right behind what the first had
	writeRead               // the second read what the first had appended
	readWrite               // the second appended behind what the first had read
	inRealTime              // the second was called after the first had returned
	dependency  = writeWrite | writeRead | readWrite
	noAntiEdges = writeWrite | writeRead
)

// edge leads to an operation that must stand later.
type edge struct {
	to   int
	kind int
	key  string
	why  string // the value by which the two are known to follow one another
}

// graph says which operation must stand before which, in any order that explains them.
type graph struct {
	out [][]edge
}

func newGraph(nodes int) *graph { return &graph{out: make([][]edge, nodes)} }

func (g *graph) add(from, to, kind int, key, why string) {
	if from != to {
		g.out[from] = append(g.out[from], edge{to, kind, key, why})
	}
}

// components are the strongly connected parts of more than one node, over edges of the
// given kinds and among the nodes given, by Tarjan's algorithm without recursion: every
// cycle lies in one of them.
func (g *graph) components(nodes []int, kinds int) (all [][]int) {
	t := &tarjan{graph: g, kinds: kinds, among: map[int]bool{}, index: map[int]int{}, low: map[int]int{}, on: map[int]bool{}}
	for _, node := range nodes {
		t.among[node] = true
	}
	for _, node := range nodes {
		if t.index[node] == 0 {
			t.walk(node)
		}
	}
	return t.found
}

// tarjan is the state of one search. index is 0 for a node that was not met.
type tarjan struct {
	*graph
	kinds      int
	among      map[int]bool
	index, low map[int]int
	on         map[int]bool // on the stack
	stack      []int
	count      int
	found      [][]int
}

// visit is a node on the way down, with the next edge to follow.
type visit struct{ node, next int }

func (t *tarjan) walk(start int) {
	path := []visit{t.enter(start)}
	for len(path) > 0 {
		v := &path[len(path)-1]
		if v.next < len(t.out[v.node]) {
			e := t.out[v.node][v.next]
			to := e.to
			v.next++
			switch {
			case e.kind&t.kinds == 0 || !t.among[to]:
			case t.index[to] == 0:
				path = append(path, t.enter(to))
			case t.on[to]:
				t.low[v.node] = min(t.low[v.node], t.index[to])
			}
			continue
		}
		node := v.node
		path = path[:len(path)-1]
		if len(path) > 0 {
			up := path[len(path)-1].node
			t.low[up] = min(t.low[up], t.low[node])
		}
		if t.low[node] == t.index[node] {
			t.leave(node)
		}
	}
}

func (t *tarjan) enter(node int) visit {
	t.count++
	t.index[node], t.low[node], t.on[node] = t.count, t.count, true
	t.stack = append(t.stack, node)
	return visit{node: node}
}

// leave takes the part that the node is the root of from the stack.
func (t *tarjan) leave(node int) {
	at := slices.Index(t.stack, node)
	part := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, n := range part {
		t.on[n] = false
	}
	if len(part) > 1 {
		t.found = append(t.found, part)
	}
}

// link is a node of a path and the edge by which it is left.
type link struct {
	from int
	edge edge
}

// path finds a shortest way between two nodes over edges of the given kinds, within a
// part of the graph; nil if there is none.
func (g *graph) path(from, to, kinds int, within map[int]bool) []link {
	via := map[int]link{}
	queue := []int{from}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		for _, e := range g.out[node] {
			if _, met := via[e.to]; met || e.kind&kinds == 0 || !within[e.to] {
				continue
			}
			via[e.to] = link{node, e}
			if e.to == to {
				return backtrack(via, from, to)
			}
			queue = append(queue, e.to)
		}
	}
	return nil
}

// backtrack is the path that led to a node. Where from and to are one node, the path is
// a cycle.
func backtrack(came map[int]link, from, to int) (path []link) {
	for node := to; ; {
		s := came[node]
		path = append(path, s)
		if node = s.from; node == from {
			slices.Reverse(path)
			return path
		}
	}
}
