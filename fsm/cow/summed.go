package cow

import (
	"slices"
	"sort"
)

// maxSummed is the most places of a node of a Summed; below minSummed a node joins a neighbour, if both have room to spare.
const (
	maxSummed = 32
	minSummed = 8
)

// Summed is a map of values by name, in the order of the names, in which each value has a summary. A node keeps the join of
// the summaries below it, so a value that a summary tells of is found without a look at the others, and changing one value
// costs a descent. It forks like BTree does, by the same marks. Make one with NewSummed.
type Summed[V any, S comparable] struct {
	join  func(into, other *S)
	owner *owner
	root  *snode[V, S] // nil before the first value
	size  int
	sum   S // of all
}

// snode is a node: a leaf has values, an inner node children, all leaves at one depth.
type snode[V any, S comparable] struct {
	owner  *owner
	leaf   bool
	places []splace[V, S]
}

// splace is a value with its name and summary, or a child with the first name below it and what its summaries come to.
type splace[V any, S comparable] struct {
	name string
	sum  S
	size int // values of a child
	val  V
	kid  *snode[V, S]
}

// NewSummed returns an empty map. join adds a summary to another; it must not depend on their order, and joining a summary
// to itself must change nothing.
func NewSummed[V any, S comparable](join func(into, other *S)) *Summed[V, S] {
	return &Summed[V, S]{join: join}
}

// Snapshot returns the map as it is now, in constant time; both may be changed afterwards, and neither sees the other's changes.
func (su *Summed[V, S]) Snapshot() *Summed[V, S] {
	su.owner.share()
	return &Summed[V, S]{join: su.join, root: su.root, size: su.size, sum: su.sum}
}

// Len is the number of values.
func (su *Summed[V, S]) Len() int { return su.size }

// Sum is what all summaries come to; it means nothing while there is no value.
func (su *Summed[V, S]) Sum() *S { return &su.sum }

func (su *Summed[V, S]) sumOf(n *snode[V, S]) S {
	sum := n.places[0].sum
	for i := 1; i < len(n.places); i++ {
		su.join(&sum, &n.places[i].sum)
	}
	return sum
}

// find is the place in n of the last name that is not after name, -1 if all are.
func (sn *snode[V, S]) find(name string) int {
	return sort.Search(len(sn.places), func(i int) bool { return sn.places[i].name > name }) - 1
}

// Get returns the value of a name.
func (su *Summed[V, S]) Get(name string) (v V, ok bool) {
	for n := su.root; n != nil; {
		i := n.find(name)
		if i < 0 {
			return v, false
		}
		if p := &n.places[i]; n.leaf {
			if p.name != name {
				return v, false
			}
			return p.val, true
		}
		n = n.places[i].kid
	}
	return v, false
}

// At is the name of the value at a position; 0 <= i < Len.
func (su *Summed[V, S]) At(i int) string {
	n := su.root
	for !n.leaf {
		j := 0
		for i >= n.places[j].size {
			i -= n.places[j].size
			j++
		}
		n = n.places[j].kid
	}
	return n.places[i].name
}

// Next returns the first value after a name (from the name itself on, if with it) of whose summary want is true, and its
// name. want must be true of a join if it is true of a part of it; nil wants all.
func (su *Summed[V, S]) Next(name string, with bool, want func(*S) bool) (v V, at string, ok bool) {
	if su.root == nil || want != nil && !want(&su.sum) {
		return v, "", false
	}
	p := su.root.next(name, with, want)
	if p == nil {
		return v, "", false
	}
	return p.val, p.name, true
}

func (sn *snode[V, S]) next(name string, with bool, want func(*S) bool) *splace[V, S] {
	for i := max(sn.find(name), 0); i < len(sn.places); i++ {
		p := &sn.places[i]
		switch {
		case sn.leaf && (p.name < name || p.name == name && !with), want != nil && !want(&p.sum):
		case sn.leaf:
			return p
		default:
			if found := p.kid.next(name, with, want); found != nil {
				return found
			}
		}
	}
	return nil
}

// Best returns the value of the highest score, the first of them by name, if that is above least. bound is the most that a
// value with such a summary, or below it, can have; score tells it of one value.
func (su *Summed[V, S]) Best(least int64, bound func(*S) int64, score func(V) int64) (best V, ok bool) {
	if su.root == nil || bound(&su.sum) <= least {
		return best, false
	}
	b := bestOf[V, S]{score: least, bound: bound, of: score}
	b.look(su.root)
	return b.best, b.found
}

// bestOf is the best value so far, with its name and score.
type bestOf[V any, S comparable] struct {
	best  V
	name  string
	score int64
	found bool
	bound func(*S) int64
	of    func(V) int64
}

// may reports whether something of that bound, at or after a name, may be better.
func (bo *bestOf[V, S]) may(bound int64, name string) bool {
	return bound > bo.score || bo.found && bound == bo.score && name < bo.name
}

// look searches a node, the most promising places first: the others are then mostly ruled out.
func (bo *bestOf[V, S]) look(n *snode[V, S]) {
	var order [maxSummed]int
	var bounds [maxSummed]int64
	places := order[:len(n.places)]
	for i := range n.places {
		order[i], bounds[i] = i, bo.bound(&n.places[i].sum)
	}
	slices.SortStableFunc(places, func(a, b int) int {
		switch {
		case bounds[a] > bounds[b]:
			return -1
		case bounds[a] < bounds[b]:
			return 1
		}
		return 0
	})
	for _, i := range places {
		p := &n.places[i]
		switch {
		case !bo.may(bounds[i], p.name):
		case !n.leaf:
			bo.look(p.kid)
		default:
			if s := bo.of(p.val); bo.may(s, p.name) {
				bo.best, bo.name, bo.score, bo.found = p.val, p.name, s, true
			}
		}
	}
}

// own returns n, or a copy of it that su may change.
func (su *Summed[V, S]) own(n *snode[V, S]) *snode[V, S] {
	if su.owner = su.owner.current(); n.owner == su.owner {
		return n
	}
	return &snode[V, S]{owner: su.owner, leaf: n.leaf, places: append(make([]splace[V, S], 0, min(maxSummed, len(n.places)+4)), n.places...)}
}

// child is a node as its parent keeps it.
func (su *Summed[V, S]) child(n *snode[V, S]) splace[V, S] {
	p := splace[V, S]{name: n.places[0].name, sum: su.sumOf(n), kid: n, size: len(n.places)}
	if !n.leaf {
		p.size = 0
		for i := range n.places {
			p.size += n.places[i].size
		}
	}
	return p
}

// Put stores a value with its summary, in the place of the value of its name if there is one.
func (su *Summed[V, S]) Put(name string, v V, sum S) {
	if su.owner = su.owner.current(); su.root == nil {
		su.root = &snode[V, S]{owner: su.owner, leaf: true}
	}
	su.root = su.own(su.root)
	right, changed := su.put(su.root, splace[V, S]{name: name, sum: sum, val: v})
	if right != nil {
		su.root = &snode[V, S]{owner: su.owner, places: []splace[V, S]{su.child(su.root), su.child(right)}}
	}
	if changed {
		su.sum = su.sumOf(su.root)
	}
}

// put stores a value in n, which su owns, and returns the part that n had no room for, and whether what n comes to may have
// changed.
func (su *Summed[V, S]) put(n *snode[V, S], p splace[V, S]) (right *snode[V, S], changed bool) {
	i := n.find(p.name)
	if n.leaf {
		if i >= 0 && n.places[i].name == p.name {
			changed = n.places[i].sum != p.sum
			n.places[i].sum, n.places[i].val = p.sum, p.val
			return nil, changed
		}
		su.size++
		return su.insert(n, i+1, p), true
	}
	i = max(i, 0)
	kid := su.own(n.places[i].kid)
	n.places[i].kid = kid
	more, changed := su.put(kid, p)
	if !changed {
		return nil, false
	}
	was := n.places[i]
	n.places[i] = su.child(kid)
	if more != nil {
		return su.insert(n, i+1, su.child(more)), true
	}
	return nil, was.sum != n.places[i].sum || was.size != n.places[i].size || was.name != n.places[i].name
}

// insert puts p at place i of n, and returns the half of n that then has no room. What comes behind all others leaves n full.
func (su *Summed[V, S]) insert(n *snode[V, S], i int, p splace[V, S]) (right *snode[V, S]) {
	if len(n.places) < maxSummed {
		n.places = slices.Insert(n.places, i, p)
		return nil
	}
	at := maxSummed / 2
	if i == len(n.places) {
		at = len(n.places)
	}
	right = &snode[V, S]{owner: su.owner, leaf: n.leaf, places: append(make([]splace[V, S], 0, maxSummed-at+4), n.places[at:]...)}
	clear(n.places[at:])
	n.places = n.places[:at]
	if i < at {
		n.places = slices.Insert(n.places, i, p)
	} else {
		right.places = slices.Insert(right.places, i-at, p)
	}
	return right
}

// Delete removes the value of a name and reports whether there was one.
func (su *Summed[V, S]) Delete(name string) bool {
	if _, found := su.Get(name); !found {
		return false
	}
	su.root = su.own(su.root)
	su.remove(su.root, name)
	su.size--
	for !su.root.leaf && len(su.root.places) == 1 {
		su.root = su.root.places[0].kid
	}
	if su.size == 0 {
		su.root = nil
		return true
	}
	su.sum = su.sumOf(su.root)
	return true
}

// remove takes a name, which is there, out of n, which su owns.
func (su *Summed[V, S]) remove(n *snode[V, S], name string) {
	i := n.find(name)
	if n.leaf {
		n.places = slices.Delete(n.places, i, i+1)
		return
	}
	kid := su.own(n.places[i].kid)
	su.remove(kid, name)
	if len(kid.places) == 0 {
		n.places = slices.Delete(n.places, i, i+1)
		return
	}
	n.places[i] = su.child(kid)
	if len(kid.places) >= minSummed {
		return
	}
	for _, l := range [...]int{i, i - 1} { // with the neighbour behind it or before it
		if l < 0 || l+1 >= len(n.places) || len(n.places[l].kid.places)+len(n.places[l+1].kid.places) > maxSummed*3/4 {
			continue
		}
		left := su.own(n.places[l].kid)
		left.places = append(left.places, n.places[l+1].kid.places...)
		n.places[l] = su.child(left)
		n.places = slices.Delete(n.places, l+1, l+2)
		return
	}
}
