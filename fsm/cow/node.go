package cow

import "slices"

const (
	// maxItems makes a node of keys that are pointers, without values, 1,008 bytes and one of
	// string keys and pointers 1,968, which the runtime keeps, with a word of its own, in 1,024
	// and in 2,048; one more key would take 1,152.
	maxItems = 60
	minItems = maxItems / 2
)

// item is a key with its value. The value comes first: a zero-size last field would cost a word of padding.
type item[K, V any] struct {
	val V
	key K
}

// bnode is a node of a tree. The heads of its keys stand together, so that a search
// touches few lines of memory: at a million keys that is most of what it costs.
type bnode[K, V any] struct {
	owner *owner
	size  int // items in the whole subtree
	n     int // items in this node
	heads [maxItems]uint64
	items [maxItems]item[K, V]
	kids  []*bnode[K, V] // empty in a leaf
}

// lower is the place of the first head that is not below h. It guesses the place from
// the ends and looks from there on: most heads are hashes, which lie so evenly that
// the guess is some places off, where halving would wait for memory and for wrongly
// predicted branches at every step. Uneven heads cost at most one pass over the node.
func (b *bnode[K, V]) lower(h uint64) int {
	if b.n == 0 || h <= b.heads[0] {
		return 0
	}
	last := b.heads[b.n-1]
	if h > last {
		return b.n
	}
	first := b.heads[0]
	i := int((h - first) / ((last-first)/uint64(b.n) + 1))
	for b.heads[i] < h {
		i++
	}
	for b.heads[i-1] >= h { // ends at the first place, whose head is below h
		i--
	}
	return i
}

// insert puts an item at place i of a node that has room.
func (b *bnode[K, V]) insert(i int, head uint64, it item[K, V]) {
	copy(b.heads[i+1:b.n+1], b.heads[i:b.n])
	copy(b.items[i+1:b.n+1], b.items[i:b.n])
	b.heads[i], b.items[i] = head, it
	b.n++
}

// remove takes the item at place i out of the node.
func (b *bnode[K, V]) remove(i int) {
	b.n--
	copy(b.heads[i:b.n], b.heads[i+1:b.n+1])
	copy(b.items[i:b.n], b.items[i+1:b.n+1])
	b.items[b.n] = item[K, V]{}
}

// push puts an item behind the others.
func (b *bnode[K, V]) push(head uint64, it item[K, V]) {
	b.heads[b.n], b.items[b.n] = head, it
	b.n++
}

// moveTail moves the items from place i on, and the children behind them, to the
// end of to.
func (b *bnode[K, V]) moveTail(i int, to *bnode[K, V]) {
	copy(to.heads[to.n:], b.heads[i:b.n])
	copy(to.items[to.n:], b.items[i:b.n])
	to.n += b.n - i
	clear(b.items[i:b.n])
	b.n = i
}

// recount sets the size from those of the children.
func (b *bnode[K, V]) recount() {
	b.size = b.n
	for _, c := range b.kids {
		b.size += c.size
	}
}

// split moves what is behind the first items, left of them and one more, of b's full
// child i, which is b's version's own, to a new child behind it. The one goes up to b.
func (b *bnode[K, V]) split(i, left int) {
	l := b.kids[i]
	r := &bnode[K, V]{owner: b.owner}
	l.moveTail(left+1, r)
	if len(l.kids) > 0 {
		r.kids = append(make([]*bnode[K, V], 0, maxItems+1), l.kids[left+1:]...)
		clear(l.kids[left+1:])
		l.kids = l.kids[:left+1]
	}
	r.recount()
	l.size -= r.size + 1
	b.insert(i, l.heads[left], l.items[left])
	l.remove(left)
	b.kids = slices.Insert(b.kids, i+1, r)
}

// join moves everything of b's child i+1, and the item between them, into child i.
func (b *bnode[K, V]) join(i int) {
	l, r := b.kids[i], b.kids[i+1]
	l.push(b.heads[i], b.items[i])
	l.size += r.size + 1
	r.moveTail(0, l)
	l.kids = append(l.kids, r.kids...)
	b.remove(i)
	b.kids = slices.Delete(b.kids, i+1, i+2)
}

// rotateLeft moves an item from b's child i+1 to child i, through b.
func (b *bnode[K, V]) rotateLeft(i int) {
	l, r := b.kids[i], b.kids[i+1]
	l.push(b.heads[i], b.items[i])
	b.heads[i], b.items[i] = r.heads[0], r.items[0]
	r.remove(0)
	moved := 1
	if len(r.kids) > 0 {
		moved += r.kids[0].size
		l.kids = append(l.kids, r.kids[0])
		r.kids = slices.Delete(r.kids, 0, 1)
	}
	l.size, r.size = l.size+moved, r.size-moved
}

// rotateRight moves an item from b's child i to child i+1, through b.
func (b *bnode[K, V]) rotateRight(i int) {
	l, r := b.kids[i], b.kids[i+1]
	last := l.n - 1
	r.insert(0, b.heads[i], b.items[i])
	b.heads[i], b.items[i] = l.heads[last], l.items[last]
	l.remove(last)
	moved := 1
	if len(l.kids) > 0 {
		moved += l.kids[last+1].size
		r.kids = slices.Insert(r.kids, 0, l.kids[last+1])
		l.kids = slices.Delete(l.kids, last+1, last+2)
	}
	l.size, r.size = l.size-moved, r.size+moved
}
