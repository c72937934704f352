package keyspace

import "github.com/trireme-dev/trireme/fsm/wire"

// elementCost is the logical overhead of a list's element in bytes.
const elementCost = 24

// Elements is the container of a list. Nil Elements are the empty list, for reading.
type Elements struct {
	Owned
	texts
	size int64
}

// NewElements is an empty list.
func NewElements() *Elements { return &Elements{texts: newTexts()} }

// Type is List.
func (*Elements) Type() Type { return List }

// Size is the logical size in bytes.
func (e *Elements) Size() int64 { return e.size }

// viewList reads the record of a small list in place.
func viewList(record string, size int64) *Elements {
	e := &Elements{size: size}
	e.view.count, e.view.text = cutCount(record)
	return e
}

// Clone copies the list in constant time.
func (e *Elements) Clone() Container { return &Elements{texts: e.clone(), size: e.size} }

func (e *Elements) elements() int { return e.Len() }

// Encode writes the elements from head to tail.
func (e *Elements) Encode(w *wire.Writer) {
	w.Uvarint(uint64(e.Len()))
	e.ascendBlocks(0, func(_ int, b textBlock) bool {
		if b.count == 0 {
			w.String(b.text)
		} else {
			w.B = append(w.B, b.text...) // which has the elements as w writes them
		}
		return true
	})
}

func decodeList(r *wire.Reader) (Container, bool) {
	n := r.Count(1)
	e := NewElements()
	for i := range n {
		if r.Len() == 0 {
			return nil, false
		}
		e.Insert(i, r.String())
	}
	return e, n > 0 && r.Err() == nil
}

// Len is the number of elements.
func (e *Elements) Len() int {
	if e == nil {
		return 0
	}
	return e.len()
}

func elementSize(v string) int64 { return elementCost + int64(len(v)) }

// At is the element at position i; 0 <= i < Len.
func (e *Elements) At(i int) string { return e.at(i) }

// Insert puts v at position i, before what stood there; 0 <= i <= Len.
func (e *Elements) Insert(i int, v string) {
	e.insert(i, v)
	e.size += elementSize(v)
}

// Set replaces the element at position i; 0 <= i < Len.
func (e *Elements) Set(i int, v string) {
	e.size += elementSize(v) - elementSize(e.at(i))
	e.set(i, v)
}

// Delete removes the element at position i and returns it; 0 <= i < Len.
func (e *Elements) Delete(i int) string {
	v := e.remove(i)
	e.size -= elementSize(v)
	return v
}

// DeleteEach removes the elements at positions, which stand in descending order.
func (e *Elements) DeleteEach(positions []int) {
	e.size -= elementCost*int64(len(positions)) + e.removeEach(positions)
}

// Keep removes all elements but those at positions from up to, not including, to;
// 0 <= from <= to <= Len. It looks at the smaller part of the list.
func (e *Elements) Keep(from, to int) {
	if to-from < e.Len()/2 {
		e.keep(from, to)
		e.size = e.sizeOf(0, to-from)
		return
	}
	e.size -= e.sizeOf(0, from) + e.sizeOf(to, e.Len())
	e.keep(from, to)
}

// sizeOf is the logical size of the elements from position from up to to.
func (e *Elements) sizeOf(from, to int) (size int64) {
	if from >= to {
		return 0
	}
	e.ascend(from, func(i int, v string) bool {
		size += elementSize(v)
		return i+1 < to
	})
	return size
}

// Ascend calls f for the elements from position i on until it returns false.
func (e *Elements) Ascend(i int, f func(i int, v string) bool) {
	if e != nil {
		e.ascend(i, f)
	}
}

// Descend calls f for the elements from position i down to 0 until it returns false.
func (e *Elements) Descend(i int, f func(i int, v string) bool) {
	if e != nil {
		e.descend(i, f)
	}
}
