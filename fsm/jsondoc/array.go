package jsondoc

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// maxFlat is the number of elements up to which a container is a plain list, which a
// change copies whole.
const maxFlat = 64

// owner marks the containers that one version of a tree may change in place. It has a
// size, so that two of them never share an address.
type owner struct{ _ byte }

// Array is a JSON array.
type Array struct {
	owner *owner
	flat  []Value              // of up to maxFlat elements, while tree is nil
	tree  *cow.Sequence[Value] // of an array that has been larger
	size  int64
}

// NewArray is an array of the values, which it takes over.
func NewArray(values ...Value) *Array {
	a := &Array{size: placeCost + containerCost}
	for _, v := range values {
		a.size += v.Size()
	}
	if len(values) <= maxFlat {
		a.flat = values
		return a
	}
	a.tree = sequenceOf(values)
	return a
}

func sequenceOf(values []Value) *cow.Sequence[Value] {
	s := cow.NewSequence[Value]()
	for i, v := range values {
		s.Insert(i, v)
	}
	return s
}

// Len is the number of elements.
func (a *Array) Len() int {
	if a.tree != nil {
		return a.tree.Len()
	}
	return len(a.flat)
}

// At is the element at position i; 0 <= i < Len.
func (a *Array) At(i int) Value {
	if a.tree != nil {
		return a.tree.At(i)
	}
	return a.flat[i]
}

// All calls f for every element in order until it returns false.
func (a *Array) All(f func(i int, v Value) bool) { a.From(0, f) }

// From calls f for the elements from position i on until it returns false.
func (a *Array) From(i int, f func(i int, v Value) bool) {
	if a.tree != nil {
		a.tree.Ascend(i, f)
		return
	}
	for ; i < len(a.flat); i++ {
		if !f(i, a.flat[i]) {
			return
		}
	}
}

// ownedBy is a, or a copy of it that o may change.
func (a *Array) ownedBy(o *owner) *Array {
	if a.owner == o {
		return a
	}
	c := &Array{owner: o, size: a.size}
	if a.tree != nil {
		c.tree = a.tree.Snapshot()
	} else {
		c.flat = slices.Clone(a.flat)
	}
	return c
}

// The changes below leave size to the caller, who must account for it in the containers
// above too.

func (a *Array) set(i int, v Value) {
	if a.tree != nil {
		a.tree.Set(i, v)
	} else {
		a.flat[i] = v
	}
}

// insert puts values at position i, before what stood there.
func (a *Array) insert(i int, values []Value) {
	if a.tree == nil && len(a.flat)+len(values) <= maxFlat {
		a.flat = slices.Insert(a.flat, i, values...)
		return
	}
	if a.tree == nil {
		a.tree, a.flat = sequenceOf(a.flat), nil
	}
	for j, v := range values {
		a.tree.Insert(i+j, v)
	}
}

// remove takes out the element at position i and returns it.
func (a *Array) remove(i int) Value {
	if a.tree != nil {
		return a.tree.Delete(i)
	}
	v := a.flat[i]
	a.flat = slices.Delete(a.flat, i, i+1)
	return v
}

// keep removes all elements but those at positions from up to, not including, to.
func (a *Array) keep(from, to int) {
	if a.tree != nil {
		a.tree.Keep(from, to)
	} else {
		a.flat = slices.Clone(a.flat[from:to])
	}
}

// sizeOf is the size of the elements at positions from up to, not including, to.
func (a *Array) sizeOf(from, to int) (size int64) {
	if from >= to {
		return 0
	}
	a.From(from, func(i int, v Value) bool {
		size += v.Size()
		return i+1 < to
	})
	return size
}
