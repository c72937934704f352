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
func (l *Elements) Size() int64 { return l.size }

// Clone copies the list in constant time.
func (l *Elements) Clone() Container { return &Elements{items: l.items.Snapshot(), size: l.size} }

// Encode writes the elements from head to tail.
func (l *Elements) Encode(w *wire.Writer) {
	w.Uvarint(uint64(l.Len()))
	l.Ascend(0, func(_ int, v string) bool {
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
func (l *Elements) Len() int {
	if l == nil {
		return 0
	}
	return l.items.Len()
}

func elementSize(v string) int64 { return elementCost + int64(len(v)) }

// At is the element at position i; 0 <= i < Len.
func (l *Elements) At(i int) string { return l.items.At(i) }

// Insert puts v at position i, before what stood there; 0 <= i <= Len.
func (l *Elements) Insert(i int, v string) {
	l.items.Insert(i, v)
	l.size += elementSize(v)
}

// Set replaces the element at position i; 0 <= i < Len.
func (l *Elements) Set(i int, v string) {
	l.size += elementSize(v) - elementSize(l.items.At(i))
	l.items.Set(i, v)
}

// Delete removes the element at position i and returns it; 0 <= i < Len.
func (l *Elements) Delete(i int) string {
	v := l.items.Delete(i)
	l.size -= elementSize(v)
	return v
}

// Keep removes all elements but those at positions from up to, not including, to;
// 0 <= from <= to <= Len. It looks at the smaller part of the list.
func (l *Elements) Keep(from, to int) {
	if to-from < l.Len()/2 {
		l.items.Keep(from, to)
		l.size = l.sizeOf(0, to-from)
		return
	}
	l.size -= l.sizeOf(0, from) + l.sizeOf(to, l.Len())
	l.items.Keep(from, to)
}

// sizeOf is the logical size of the elements from position from up to to.
func (l *Elements) sizeOf(from, to int) (size int64) {
	if from >= to {
		return 0
	}
	l.items.Ascend(from, func(i int, v string) bool {
		size += elementSize(v)
		return i+1 < to
	})
	return size
}

// Ascend calls f for the elements from position i on until it returns false.
func (l *Elements) Ascend(i int, f func(i int, v string) bool) {
	if l != nil {
		l.items.Ascend(i, f)
	}
}

// Descend calls f for the elements from position i down to 0 until it returns false.
func (l *Elements) Descend(i int, f func(i int, v string) bool) {
	if l != nil {
		l.items.Descend(i, f)
	}
}
