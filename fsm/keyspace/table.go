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

// table maps the names of a hash's fields or a set's members to values. Up to smallMax
// they stand in order of insertion, as clients know it from Redis; the name after that
// turns the table for good into a tree ordered by hash, in which a scan's cursor is a
// place. The order is part of the state.
type table[V any] struct {
	small []named[V]
	large *cow.BTree[string, V] // nil while small
	// Of a view of a packed value: what encode wrote behind the number of names, that number, and whether the order is that of
	// the large form.
	packed string
	count  int
	hashed bool
	cut    func(record string) (v V, rest string) // takes a value off
	walked bool                                   // one of its places was looked up by walking there
}

// viewTable reads the record of a small table in place.
func viewTable[V any](record string, cut func(record string) (v V, rest string)) (t table[V]) {
	t.hashed, t.cut = record[0] != 0, cut
	t.count, t.packed = cutCount(record[1:])
	return t
}

// each calls f for every name of a view in order until it returns false.
func (t *table[V]) each(f func(name string, v V) bool) {
	for rest := t.packed; rest != ""; {
		var name string
		var v V
		name, rest, _ = cutWord(rest)
		if v, rest = t.cut(rest); !f(name, v) {
			return
		}
	}
}

// unpacked returns the table of a view.
func (t *table[V]) unpacked() (own table[V]) {
	if !t.hashed {
		own.small = make([]named[V], 0, t.count+1)
		t.each(func(name string, v V) bool {
			own.small = append(own.small, named[V]{v, name})
			return true
		})
		return own
	}
	b := cow.NewBuilder[string, V](hashOf, strings.Compare)
	t.each(func(name string, v V) bool { return b.Add(name, v) })
	own.large = b.Tree()
	return own
}

// named is a value with its name. The value comes first: a zero-size last field would cost a word of padding.
type named[V any] struct {
	val  V
	name string
}

func (t *table[V]) len() int {
	switch {
	case t.large != nil:
		return t.large.Len()
	case t.packed != "":
		return t.count
	}
	return len(t.small)
}

// index returns the position of name in the small form, -1 if it isn't there.
func (t *table[V]) index(name string) int {
	for i := range t.small {
		if t.small[i].name == name {
			return i
		}
	}
	return -1
}

func (t *table[V]) get(name string) (v V, ok bool) {
	switch {
	case t.large != nil:
		return t.large.Get(name)
	case t.packed != "":
		for rest := t.packed; rest != ""; {
			var n string
			n, rest, _ = cutWord(rest)
			if v, rest = t.cut(rest); n == name {
				return v, true
			}
		}
		var none V
		return none, false
	}
	if i := t.index(name); i >= 0 {
		return t.small[i].val, true
	}
	return v, false
}

// slot is the place of name's value until the next change, made if it is not there, when
// name is copied. It tells the name as it is stored.
func (t *table[V]) slot(name string) (v *V, stored string, had bool) {
	place, v, had := t.place(name)
	if !had {
		*place = strings.Clone(name)
	}
	return v, *place, had
}

// place is the places of a name and its value until the next change, made if they are not there. The caller must store a name that
// equals it in a place that is new, and may do so in another.
func (t *table[V]) place(name string) (stored *string, v *V, had bool) {
	if t.large == nil {
		if i := t.index(name); i >= 0 {
			return &t.small[i].name, &t.small[i].val, true
		}
		if len(t.small) < smallMax {
			t.small = append(t.small, named[V]{})
			last := &t.small[len(t.small)-1]
			return &last.name, &last.val, false
		}
		t.grow()
	}
	return cow.UpsertBy(t.large, hashOf(name), name, strings.Compare)
}

// grow turns the small form into the large one.
func (t *table[V]) grow() {
	t.large = cow.NewBTree[string, V](hashOf, strings.Compare)
	for _, n := range t.small {
		t.large.Set(n.name, n.val)
	}
	t.small = nil
}

func (t *table[V]) remove(name string) (v V, had bool) {
	if t.large != nil {
		return t.large.Remove(name)
	}
	i := t.index(name)
	if i < 0 {
		return v, false
	}
	v = t.small[i].val
	t.small = slices.Delete(t.small, i, i+1)
	return v, true
}

// at is the name and value with i names before it.
func (t *table[V]) at(i int) (name string, v V) {
	switch {
	case t.large != nil:
		return t.large.At(i)
	case t.packed != "" && !t.walked: // most readers want one
		t.walked = true
		t.each(func(n string, val V) bool {
			name, v = n, val
			i--
			return i >= 0
		})
		return name, v
	case t.packed != "":
		*t = t.unpacked() // a view is its reader's alone
		return t.at(i)
	}
	return t.small[i].name, t.small[i].val
}

// all calls f for every name in order until it returns false.
func (t *table[V]) all(f func(name string, v V) bool) {
	switch {
	case t.large != nil:
		t.large.All(f)
		return
	case t.packed != "":
		t.each(f)
		return
	}
	for _, n := range t.small {
		if !f(n.name, n.val) {
			return
		}
	}
}

// scan calls f for names from cursor on until it has passed count of them, and returns the
// cursor to go on at, 0 at the end. The small form is one page.
func (t *table[V]) scan(cursor uint64, count int, f func(name string, v V)) (next uint64) {
	if t.large == nil && !t.hashed {
		t.all(func(name string, v V) bool {
			f(name, v)
			return true
		})
		return 0
	}
	seen, last := 0, uint64(0)
	page := func(name string, v V) bool {
		hash := hashOf(name)
		if hash < cursor { // of a view, which is read from its beginning
			return true
		}
		if seen >= count && hash != last {
			next = hash
			return false
		}
		seen, last = seen+1, hash
		f(name, v)
		return true
	}
	if t.large == nil {
		t.each(page)
	} else {
		t.large.AscendHead(cursor, page)
	}
	return next
}

func (t *table[V]) clone() table[V] {
	switch {
	case t.large != nil:
		return table[V]{large: t.large.Snapshot()}
	case t.packed != "":
		return t.unpacked()
	}
	return table[V]{small: slices.Clone(t.small)}
}

// encode writes the form, the number of names, and each with its value.
func (t *table[V]) encode(w *wire.Writer, value func(V)) {
	w.Bool(t.large != nil || t.hashed)
	w.Uvarint(uint64(t.len()))
	t.all(func(name string, v V) bool {
		w.String(name)
		value(v)
		return true
	})
}

// decodeTable reads what encode wrote; value reads the value of a name, which aliases the input, and returns the name that is stored. It
// is not ok if names are repeated or out of order, or if there is none.
func decodeTable[V any](r *wire.Reader, value func(name string) (stored string, v V)) (t table[V], ok bool) {
	large, n := r.Bool(), r.Count(1)
	if n == 0 || !large && n > smallMax {
		return t, false
	}
	if !large {
		for range n {
			left, name := r.Len(), Alias(r.Bytes())
			stored, slot, had := t.place(name)
			if *stored, *slot = value(name); had || left == 0 {
				return t, false
			}
		}
		return t, r.Err() == nil
	}
	b := cow.NewBuilder[string, V](hashOf, strings.Compare)
	for range n {
		left := r.Len()
		if !b.Add(value(Alias(r.Bytes()))) || left == 0 {
			return t, false
		}
	}
	t.large = b.Tree()
	return t, r.Err() == nil
}

// tableOf is a table of names, each once, that were put in one after the other. Many are put into a tree all at once.
// It keeps the names as they are.
func tableOf[V any](names []string) (t table[V]) {
	var none V
	if len(names) <= smallMax {
		for _, name := range names {
			t.small = append(t.small, named[V]{none, name})
		}
		return t
	}
	if !slices.IsSortedFunc(names, byHashOf) {
		slices.SortFunc(names, byHashOf)
	}
	b := cow.NewBuilder[string, V](hashOf, strings.Compare)
	for _, name := range names {
		b.Add(name, none)
	}
	t.large = b.Tree()
	return t
}

func byHashOf(a, b string) int {
	return cmp.Or(cmp.Compare(hashOf(a), hashOf(b)), strings.Compare(a, b))
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
