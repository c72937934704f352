package lua

import (
	"math"
	"math/bits"
)

// Table is a Lua table: an array part for 1 to n and a chained scatter table for the
// rest, sized and probed as Lua 5.1 does, because the order of next and the border that
// # finds follow from it.
type Table struct {
	array  []Value
	nodes  []node // a power of two, or none
	free   int    // nodes at and behind it are taken
	meta   *Table
	budget *Budget
	serial uint32
	locked bool
}

// node is a slot of the scatter table. next is the distance to the next slot of the
// chain, 0 at its end. A deleted entry keeps its key, so that next can go on from it.
type node struct {
	key, value Value
	next       int32
}

// Lock makes the table read-only for scripts.
func (t *Table) Lock() { t.locked = true }

// Get is the value under a key, without metamethods.
func (t *Table) Get(key Value) Value {
	switch k := key.ref.(type) {
	case *Str:
		return t.getStr(k)
	case *numberTag:
		if i := int(key.n); uint(i-1) < uint(len(t.array)) && float64(i) == key.n {
			return t.array[i-1]
		}
	case nil:
		return Nil
	}
	if at := t.find(key); at >= 0 {
		return t.nodes[at].value
	}
	return Nil
}

// Index is the value under an integer key.
func (t *Table) Index(i int) Value {
	if uint(i-1) < uint(len(t.array)) {
		return t.array[i-1]
	}
	if at := t.find(Int(i)); at >= 0 {
		return t.nodes[at].value
	}
	return Nil
}

// Field is the value under a string key.
func (t *Table) Field(name string) Value { return t.getStr(&Str{s: name}) }

// hop charges a search for going on to the next node: scripts can choose keys whose hashes collide.
func (b *Budget) hop() { b.Step(hopCost) }

func (t *Table) getStr(k *Str) Value {
	if len(t.nodes) == 0 {
		return Nil
	}
	i := int(k.hash()) & (len(t.nodes) - 1)
	for far := 0; ; far++ {
		n := &t.nodes[i]
		if s, ok := n.key.ref.(*Str); ok && (s == k || s.h == k.h && t.budget.sameText(s.s, k.s)) {
			return n.value
		}
		if n.next == 0 {
			return Nil
		}
		i += int(n.next)
		if far >= freeHops {
			t.budget.hop()
		}
	}
}

// find is the place of a key among the nodes, -1 if there is none.
func (t *Table) find(key Value) int { return t.search(key, freeHops) }

// search is find with so many nodes for nothing.
func (t *Table) search(key Value, free int) int {
	if len(t.nodes) == 0 {
		return -1
	}
	text, _ := key.ref.(*Str)
	i := t.mainPosition(key)
	for far := 0; ; far++ {
		n := &t.nodes[i]
		if text == nil {
			if n.key.n == key.n && n.key.ref == key.ref {
				return i
			}
		} else if s, ok := n.key.ref.(*Str); ok && (s == text || s.h == text.h && t.budget.sameText(s.s, text.s)) {
			return i
		}
		if n.next == 0 {
			return -1
		}
		i += int(n.next)
		if far >= free {
			t.budget.hop()
		}
	}
}

// mainPosition is the slot of a key without collisions.
func (t *Table) mainPosition(key Value) int {
	mask := len(t.nodes) - 1
	switch k := key.ref.(type) {
	case *Str:
		return int(k.hash()) & mask
	case *boolTag:
		return int(key.n) & mask
	case *numberTag:
		if key.n == 0 {
			return 0
		}
		b := math.Float64bits(key.n)
		return int((uint32(b) + uint32(b>>32)) % uint32(mask|1))
	}
	return int((key.serial() * 16) % uint32(mask|1))
}

// Set stores a value under a key, which is neither nil nor NaN; nil removes it.
func (t *Table) Set(key, value Value) {
	if key.isNumber() {
		if i := int(key.n); uint(i-1) < uint(len(t.array)) && float64(i) == key.n {
			t.array[i-1] = value
			return
		}
	}
	if at := t.find(key); at >= 0 {
		t.nodes[at].value = value
		return
	}
	t.insert(key, value)
}

// SetIndex stores a value under an integer key.
func (t *Table) SetIndex(i int, value Value) {
	if uint(i-1) < uint(len(t.array)) {
		t.array[i-1] = value
		return
	}
	t.Set(Int(i), value)
}

// SetField stores a value under a string key.
func (t *Table) SetField(name string, value Value) { t.Set(String(name), value) }

// insert adds a key that is not there. A key whose place is taken by one that belongs
// elsewhere drives it out; otherwise it takes a free slot.
func (t *Table) insert(key, value Value) {
	if len(t.nodes) == 0 {
		t.grow(key, value)
		return
	}
	at := t.mainPosition(key)
	if !t.nodes[at].value.IsNil() {
		free, ok := t.freeSlot()
		if !ok {
			t.grow(key, value)
			return
		}
		other := t.mainPosition(t.nodes[at].key)
		if other != at {
			t.moveOut(at, other, free)
		} else {
			if next := t.nodes[at].next; next != 0 {
				t.nodes[free].next = int32(at+int(next)) - int32(free)
			} else {
				t.nodes[free].next = 0
			}
			t.nodes[at].next = int32(free - at)
			at = free
		}
	}
	t.nodes[at].key, t.nodes[at].value = key, value
}

// moveOut moves the entry at a slot, which belongs to the chain of other, to a free one.
func (t *Table) moveOut(at, other, free int) {
	prev := other
	for far := 0; prev+int(t.nodes[prev].next) != at; far++ {
		prev += int(t.nodes[prev].next)
		if far >= freeHops {
			t.budget.Step(hopCost)
		}
	}
	t.nodes[prev].next = int32(free - prev)
	t.nodes[free] = t.nodes[at]
	if t.nodes[at].next != 0 {
		t.nodes[free].next += int32(at - free)
		t.nodes[at].next = 0
	}
	t.nodes[at].value = Nil
}

func (t *Table) freeSlot() (int, bool) {
	for t.free > 0 {
		t.free--
		if t.nodes[t.free].key.IsNil() {
			return t.free, true
		}
	}
	return 0, false
}

// maxArrayBits bounds the array part.
const maxArrayBits = 26

// grow makes room for one more key: it counts the keys, gives the array part the
// largest size that would be more than half full, and inserts everything again.
func (t *Table) grow(key, value Value) {
	var counts [maxArrayBits + 1]int
	inArray := t.countArray(&counts)
	total := inArray
	for i := range t.nodes {
		if n := &t.nodes[i]; !n.value.IsNil() {
			inArray += countKey(n.key, &counts)
			total++
		}
	}
	inArray += countKey(key, &counts)
	total++
	size, used := arraySize(&counts, inArray)
	t.resize(size, total-used)
	t.Set(key, value)
}

// countArray counts the values of the array part by slices (2^(i-1), 2^i].
func (t *Table) countArray(counts *[maxArrayBits + 1]int) (total int) {
	for i := range t.array {
		if !t.array[i].IsNil() {
			counts[bits.Len(uint(i))]++
			total++
		}
	}
	return total
}

func countKey(key Value, counts *[maxArrayBits + 1]int) int {
	if !key.isNumber() {
		return 0
	}
	i := int(key.n)
	if float64(i) != key.n || i < 1 || i > 1<<maxArrayBits {
		return 0
	}
	counts[bits.Len(uint(i-1))]++
	return 1
}

// arraySize is the largest n such that more than half of 1 to n are in use, and how
// many keys go there.
func arraySize(counts *[maxArrayBits + 1]int, total int) (size, used int) {
	sum := 0
	for i, power := 0, 1; i <= maxArrayBits && power/2 < total; i, power = i+1, power*2 {
		if counts[i] > 0 {
			if sum += counts[i]; sum > power/2 {
				size, used = power, sum
			}
		}
		if sum == total {
			break
		}
	}
	return size, used
}

// resize gives the table an array part of size values and room for hash other keys.
func (t *Table) resize(size, hash int) {
	old, array := t.nodes, t.array
	t.budget.Step(2 * (len(old) + len(array)))
	if size > len(array) {
		t.budget.Alloc((size - len(array)) * sizeValue)
		grown := make([]Value, size)
		copy(grown, array)
		t.array = grown
	}
	t.setNodes(hash)
	if size < len(array) {
		t.array = array[:size:size]
		for i := size; i < len(array); i++ {
			if !array[i].IsNil() {
				t.SetIndex(i+1, array[i])
			}
		}
	}
	for i := len(old) - 1; i >= 0; i-- {
		if !old[i].value.IsNil() {
			t.again(old[i].key, old[i].value)
		}
	}
}

// again stores an entry once more after the nodes were made anew. Its key is not among them, so it isn't searched there.
func (t *Table) again(key, value Value) {
	if i := int(key.n); key.isNumber() && uint(i-1) < uint(len(t.array)) && float64(i) == key.n {
		t.Set(key, value)
		return
	}
	t.insert(key, value)
}

func (t *Table) setNodes(hash int) {
	t.nodes, t.free = nil, 0
	if hash > 0 {
		size := 1 << bits.Len(uint(hash-1))
		t.budget.Alloc(size * sizeNode)
		t.nodes, t.free = make([]node, size), size
	}
}

// Len is a border of the table: an n such that t[n] is not nil and t[n+1] is.
func (t *Table) Len() int {
	j := len(t.array)
	if j > 0 && t.array[j-1].IsNil() {
		t.budget.Step(bits.Len(uint(j)) / probesPerStep)
		i := 0
		for j-i > 1 {
			if m := (i + j) / 2; t.array[m-1].IsNil() {
				j = m
			} else {
				i = m
			}
		}
		return i
	}
	if len(t.nodes) == 0 {
		return j
	}
	return t.searchBorder(j)
}

// searchBorder finds a border above j, which is 0 or in use.
func (t *Table) searchBorder(j int) int {
	i := j
	for j++; !t.Index(j).IsNil(); {
		t.budget.Step(probeCost)
		i = j
		if j *= 2; j > math.MaxInt32-2 {
			for i = 1; !t.Index(i).IsNil(); i++ {
				t.budget.Step(1)
			}
			return i - 1
		}
	}
	for j-i > 1 {
		t.budget.Step(probeCost)
		if m := (i + j) / 2; t.Index(m).IsNil() {
			j = m
		} else {
			i = m
		}
	}
	return i
}

// roundSize is a size hint as a table constructor keeps it: eight binary orders of
// three bits.
func roundSize(n int) int {
	e := 0
	for n >= 16 {
		n = (n + 1) >> 1
		e++
	}
	return n << e
}
