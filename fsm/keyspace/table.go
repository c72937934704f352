package keyspace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// smallMax is the largest number of names that a table keeps in a slice. A fork clones at most as many.
const smallMax = 64

// SmallSet is the largest number of members of a set that keeps them in the order of their insertion.
const SmallSet = smallMax

// named is an element of a table: it has a name, which never changes.
type named interface{ name() string }

func headOf[E named](e E) uint64 { return hashOf(e.name()) }

func compareElements[E named](a, b E) int { return strings.Compare(a.name(), b.name()) }

func compareName[E named](e E, name string) int { return strings.Compare(e.name(), name) }

// table holds the fields of a hash, or a set's members, by their names. Up to smallMax
// they stand in order of insertion, as clients know it from Redis; the element after that
// turns the table for good into a tree ordered by hash, in which a scan's cursor is a
// place. The order is part of the state.
type table[E named] struct {
	small []E
	large *cow.BTree[E, struct{}] // nil while small
	// Of a view of a packed value: what encode wrote behind the number of elements, that number, and whether the order is that
	// of the large form.
	packed string
	count  int
	hashed bool
	cut    cutter[E]
	walked bool // one of its places was looked up by walking there
}

// cutter takes an element off a record, and tells its name, which it has read.
type cutter[E named] func(record string) (name string, e E, rest string)

func newTree[E named]() *cow.BTree[E, struct{}] {
	return cow.NewBTree[E, struct{}](headOf, compareElements)
}

func newTreeBuilder[E named]() *cow.Builder[E, struct{}] {
	return cow.NewBuilder[E, struct{}](headOf, compareElements)
}

// viewTable reads the record of a small table in place.
func viewTable[E named](record string, cut cutter[E]) (t table[E]) {
	t.hashed, t.cut = record[0] != 0, cut
	t.count, t.packed = cutCount(record[1:])
	return t
}

// each calls f for every element of a view in order until it returns false.
func (t *table[E]) each(f func(E) bool) {
	for rest := t.packed; rest != ""; {
		var e E
		if _, e, rest = t.cut(rest); !f(e) {
			return
		}
	}
}

// unpacked returns the table of a view.
func (t *table[E]) unpacked() (own table[E]) {
	if !t.hashed {
		own.small = make([]E, 0, t.count+1)
		t.each(func(e E) bool {
			own.small = append(own.small, e)
			return true
		})
		return own
	}
	b := newTreeBuilder[E]()
	t.each(func(e E) bool { return b.Add(e, struct{}{}) })
	own.large = b.Tree()
	return own
}

func (t *table[E]) len() int {
	switch {
	case t.large != nil:
		return t.large.Len()
	case t.packed != "":
		return t.count
	}
	return len(t.small)
}

// index returns the position of name in the small form, -1 if it isn't there.
func (t *table[E]) index(name string) int {
	for i := range t.small {
		if t.small[i].name() == name {
			return i
		}
	}
	return -1
}

func (t *table[E]) get(name string) (e E, ok bool) {
	switch {
	case t.large != nil:
		e, _, ok = cow.GetBy(t.large, hashOf(name), name, compareName[E])
		return e, ok
	case t.packed != "":
		for rest := t.packed; rest != ""; {
			var n string
			if n, e, rest = t.cut(rest); n == name {
				return e, true
			}
		}
		var none E
		return none, false
	}
	if i := t.index(name); i >= 0 {
		return t.small[i], true
	}
	return e, false
}

// place is the place of the element of that name until the next change, made if there is none. The caller must store an element of
// that name in a place that is new, and may do so in another.
func (t *table[E]) place(name string) (e *E, had bool) {
	if t.large == nil {
		if i := t.index(name); i >= 0 {
			return &t.small[i], true
		}
		if len(t.small) < smallMax {
			var none E
			t.small = append(t.small, none)
			return &t.small[len(t.small)-1], false
		}
		t.grow()
	}
	e, _, had = cow.UpsertBy(t.large, hashOf(name), name, compareName[E])
	return e, had
}

// grow turns the small form into the large one.
func (t *table[E]) grow() {
	t.large = newTree[E]()
	for _, e := range t.small {
		t.large.Set(e, struct{}{})
	}
	t.small = nil
}

func (t *table[E]) remove(name string) (e E, had bool) {
	if t.large != nil {
		e, _, had = cow.RemoveBy(t.large, hashOf(name), name, compareName[E])
		return e, had
	}
	i := t.index(name)
	if i < 0 {
		return e, false
	}
	e = t.small[i]
	t.small = slices.Delete(t.small, i, i+1)
	return e, true
}

// at is the element with i before it.
func (t *table[E]) at(i int) (e E) {
	switch {
	case t.large != nil:
		e, _ = t.large.At(i)
		return e
	case t.packed != "" && !t.walked: // most readers want one
		t.walked = true
		t.each(func(one E) bool {
			e = one
			i--
			return i >= 0
		})
		return e
	case t.packed != "":
		*t = t.unpacked() // a view is its reader's alone
		return t.at(i)
	}
	return t.small[i]
}

// all calls f for every element in order until it returns false.
func (t *table[E]) all(f func(E) bool) {
	switch {
	case t.large != nil:
		t.large.All(func(e E, _ struct{}) bool { return f(e) })
		return
	case t.packed != "":
		t.each(f)
		return
	}
	for _, e := range t.small {
		if !f(e) {
			return
		}
	}
}

// scan calls f for elements from cursor on until it has passed count of them, and returns the
// cursor to go on at, 0 at the end. The small form is one page.
func (t *table[E]) scan(cursor uint64, count int, f func(E)) (next uint64) {
	if t.large == nil && !t.hashed {
		t.all(func(e E) bool {
			f(e)
			return true
		})
		return 0
	}
	seen, last := 0, uint64(0)
	page := func(e E) bool {
		hash := headOf(e)
		if hash < cursor { // of a view, which is read from its beginning
			return true
		}
		if seen >= count && hash != last {
			next = hash
			return false
		}
		seen, last = seen+1, hash
		f(e)
		return true
	}
	if t.large == nil {
		t.each(page)
	} else {
		t.large.AscendHead(cursor, func(e E, _ struct{}) bool { return page(e) })
	}
	return next
}

func (t *table[E]) clone() table[E] {
	switch {
	case t.large != nil:
		return table[E]{large: t.large.Snapshot()}
	case t.packed != "":
		return t.unpacked()
	}
	return table[E]{small: slices.Clone(t.small)}
}

// encode writes the form, the number of elements, and each of them by write, its name first.
func (t *table[E]) encode(w *wire.Writer, write func(E)) {
	w.Bool(t.large != nil || t.hashed)
	w.Uvarint(uint64(t.len()))
	t.all(func(e E) bool {
		write(e)
		return true
	})
}

// decodeTable reads what encode wrote; read reads an element. It is not ok if names are repeated or out of order, or if there is none.
func decodeTable[E named](r *wire.Reader, read func() E) (t table[E], ok bool) {
	large, n := r.Bool(), r.Count(1)
	if n == 0 || !large && n > smallMax {
		return t, false
	}
	if !large {
		for range n {
			left := r.Len()
			e := read()
			place, had := t.place(e.name())
			if *place = e; had || left == 0 {
				return t, false
			}
		}
		return t, r.Err() == nil
	}
	b := newTreeBuilder[E]()
	for range n {
		left := r.Len()
		if !b.Add(read(), struct{}{}) || left == 0 {
			return t, false
		}
	}
	t.large = b.Tree()
	return t, r.Err() == nil
}

// tableOf is a table of elements, each of a name of its own, that were put in one after the other. Many are put into a tree all at
// once. It keeps the slice.
func tableOf[E named](elements []E) (t table[E]) {
	if len(elements) <= smallMax {
		t.small = elements
		return t
	}
	if !slices.IsSortedFunc(elements, compareHashed) {
		slices.SortFunc(elements, compareHashed)
	}
	b := newTreeBuilder[E]()
	for _, e := range elements {
		b.Add(e, struct{}{})
	}
	t.large = b.Tree()
	return t
}

func compareHashed[E named](a, b E) int {
	return cmp.Or(cmp.Compare(headOf(a), headOf(b)), compareElements(a, b))
}

// Draw picks k different numbers below n, which is at least k, by e's generator.
func Draw(e *env.Env, n, k int) []int {
	picked := make([]int, 0, k)
	taken := make(map[int]bool, k)
	for top := n - k; top < n; top++ { // Floyd's way: every set of k is equally likely
		i := e.IntN(top + 1)
		if taken[i] {
			i = top
		}
		taken[i] = true
		picked = append(picked, i)
	}
	return picked
}
