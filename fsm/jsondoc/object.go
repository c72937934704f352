package jsondoc

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// Member is a member of an object.
type Member struct {
	Key   string
	Value Value
}

// Object is a JSON object. Its members stand in the order in which they came.
type Object struct {
	owner *owner
	flat  []Member // of up to maxFlat members, while order is nil
	// Of an object that has been larger: the members by the number they came as, and
	// these numbers by key.
	order *cow.BTree[uint64, Member]
	place *cow.BTree[string, uint64]
	next  uint64
	size  int64
}

// NewObject is an object without members.
func NewObject() *Object { return &Object{size: placeCost + containerCost} }

// ObjectOf is an object of these members; of those of one key the last value counts, at
// the place of the first.
func ObjectOf(members ...Member) *Object {
	o := NewObject()
	if len(members) <= maxFlat {
		o.flat = make([]Member, 0, len(members))
	}
	for _, m := range members {
		o.put(m.Key, m.Value)
	}
	return o
}

// memberSize is the size of a member.
func memberSize(key string, v Value) int64 { return keyCost + int64(len(key)) + v.Size() }

// Len is the number of members.
func (o *Object) Len() int {
	if o.order != nil {
		return o.order.Len()
	}
	return len(o.flat)
}

// Get is the member of that key.
func (o *Object) Get(key string) (v Value, ok bool) {
	if o.order == nil {
		if i := o.find(key); i >= 0 {
			return o.flat[i].Value, true
		}
		return nil, false
	}
	n, ok := o.place.Get(key)
	if !ok {
		return nil, false
	}
	m, ok := o.order.Get(n)
	return m.Value, ok
}

func (o *Object) find(key string) int {
	return slices.IndexFunc(o.flat, func(m Member) bool { return m.Key == key })
}

// All calls f for every member in order until it returns false.
func (o *Object) All(f func(key string, v Value) bool) {
	if o.order != nil {
		o.order.All(func(_ uint64, m Member) bool { return f(m.Key, m.Value) })
		return
	}
	for _, m := range o.flat {
		if !f(m.Key, m.Value) {
			return
		}
	}
}

// ownedBy is o, or a copy of it that w may change.
func (o *Object) ownedBy(w *owner) *Object {
	if o.owner == w {
		return o
	}
	c := &Object{owner: w, size: o.size, next: o.next}
	if o.order != nil {
		c.order, c.place = o.order.Snapshot(), o.place.Snapshot()
	} else {
		c.flat = slices.Clone(o.flat)
	}
	return c
}

// The changes below leave size to the caller, who must account for it in the containers
// above too.

// set replaces the member of that key or adds one at the end, and returns the old value,
// nil if there was none.
func (o *Object) set(key string, v Value) (old Value) {
	if o.order == nil {
		if i := o.find(key); i >= 0 {
			old, o.flat[i].Value = o.flat[i].Value, v
			return old
		}
		if len(o.flat) < maxFlat {
			o.flat = append(o.flat, Member{key, v})
			return nil
		}
		o.grow()
	}
	slot, _, had := o.place.Upsert(key, nil)
	if had {
		m, _, _ := o.order.Upsert(*slot, nil)
		old, m.Value = m.Value, v
		return old
	}
	*slot = o.next
	o.order.Set(o.next, Member{key, v})
	o.next++
	return nil
}

// grow turns the list into trees.
func (o *Object) grow() {
	o.order = cow.NewBTree[uint64, Member](func(n uint64) uint64 { return n }, func(a, b uint64) int { return 0 })
	o.place = cow.NewBTree[string, uint64](xxhash.Sum64String, strings.Compare)
	for i, m := range o.flat {
		o.order.Set(uint64(i), m)
		o.place.Set(m.Key, uint64(i))
	}
	o.next, o.flat = uint64(len(o.flat)), nil
}

// remove takes out the member of that key and returns its value, nil if there is none.
func (o *Object) remove(key string) Value {
	if o.order != nil {
		n, had := o.place.Remove(key)
		if !had {
			return nil
		}
		m, _ := o.order.Remove(n)
		return m.Value
	}
	i := o.find(key)
	if i < 0 {
		return nil
	}
	v := o.flat[i].Value
	o.flat = slices.Delete(o.flat, i, i+1)
	return v
}

// put is set of a fresh object that is not shared yet; it keeps the size.
func (o *Object) put(key string, v Value) {
	if old := o.set(key, v); old != nil {
		o.size += v.Size() - old.Size()
		return
	}
	o.size += memberSize(key, v)
}
