package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// elementCost is the logical overhead of a list's element in bytes.
const elementCost = 24

// Elements is the container of a list. Nil Elements are the empty list, for reading.
type Elements struct {
	Owned
	items *cow.Sequence[string]
	size  int64
}

// NewElements is an empty list.
func NewElements() *Elements { return &Elements{items: cow.NewSequence[string]()} }

// Type is List.
func (*Elements) Type() Type { return List }

// Size is the logical size in bytes.
func (e *Elements) Size() int64 { return e.size }

// Clone copies the list in constant time.
func (e *Elements) Clone() Container { return &Elements{items: e.items.Snapshot(), size: e.size} }

// Encode writes the elements from head to tail.
func (e *Elements) Encode(w *wire.Writer) {
	w.Uvarint(uint64(e.Len()))
	e.Ascend(0, func(_ int, v string) bool {
		w.String(v)
		return true
	})
}

func decodeList(r *wire.Reader) (Container, bool) {
	l := NewElements()
	n := r.Count(1)
	for i := range n {
		if r.Len() == 0 {
			return nil, false
		}
		l.Insert(i, r.String())
	}
	return l, n > 0 && r.Err() == nil
}

// Len is the number of elements.
func (e *Elements) Len() int {
	if e == nil {
		return 0
	}
	return e.items.Len()
}

func elementSize(v string) int64 { return elementCost + int64(len(v)) }

// At is the element at position i; 0 <= i < Len.
func (e *Elements) At(i int) string { return e.items.At(i) }

// Insert puts v at position i, before what stood there; 0 <= i <= Len.
func (e *Elements) Insert(i int, v string) {
	e.items.Insert(i, v)
	e.size += elementSize(v)
}

// Set replaces the element at position i; 0 <= i < Len.
func (e *Elements) Set(i int, v string) {
	e.size += elementSize(v) - elementSize(e.items.At(i))
	e.items.Set(i, v)
}

// Delete removes the element at position i and returns it; 0 <= i < Len.
func (e *Elements) Delete(i int) string {
	v := e.items.Delete(i)
	e.size -= elementSize(v)
	return v
}

// Keep removes all elements but those at positions from up to, not including, to;
// 0 <= from <= to <= Len. It looks at the smaller part of the list.
func (e *Elements) Keep(from, to int) {
	if to-from < e.Len()/2 {
		e.items.Keep(from, to)
		e.size = e.sizeOf(0, to-from)
		return
	}
	e.size -= e.sizeOf(0, from) + e.sizeOf(to, e.Len())
	e.items.Keep(from, to)
}

// sizeOf is the logical size of the elements from position from up to to.
func (e *Elements) sizeOf(from, to int) (size int64) {
	if from >= to {
		return 0
	}
	e.items.Ascend(from, func(i int, v string) bool {
		size += elementSize(v)
		return i+1 < to
	})
	return size
}

// Ascend calls f for the elements from position i on until it returns false.
func (e *Elements) Ascend(i int, f func(i int, v string) bool) {
	if e != nil {
		e.items.Ascend(i, f)
	}
}

// Descend calls f for the elements from position i down to 0 until it returns false.
func (e *Elements) Descend(i int, f func(i int, v string) bool) {
	if e != nil {
		e.items.Descend(i, f)
	}
}
