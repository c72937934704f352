package keyspace

import (
	"cmp"
	"math"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// slotCost is the logical overhead of a used slot of an array in bytes.
const slotCost = 40

// MaxIndex is the last index of an array.
const MaxIndex = math.MaxUint64 - 1

// SparseArray is the container of an array: values under indexes, most of which may be
// unused, and the index where the next append goes. Nil is the empty array, for reading.
type SparseArray struct {
	Owned
	slots *cow.BTree[uint64, string]
	next  uint64
	size  int64
}

// NewSparseArray is an empty array.
func NewSparseArray() *SparseArray { return &SparseArray{slots: newSlots()} }

func headOfIndex(i uint64) uint64 { return i }

func newSlots() *cow.BTree[uint64, string] {
	return cow.NewBTree[uint64, string](headOfIndex, cmp.Compare[uint64])
}

// Type is Array.
func (*SparseArray) Type() Type { return Array }

// Size is the logical size in bytes.
func (sa *SparseArray) Size() int64 { return sa.size }

// Clone copies the array in constant time.
func (sa *SparseArray) Clone() Container {
	return &SparseArray{slots: sa.slots.Snapshot(), next: sa.next, size: sa.size}
}

// Len is the number of used slots.
func (sa *SparseArray) Len() int {
	if sa == nil {
		return 0
	}
	return sa.slots.Len()
}

// Span is the greatest used index and one, 0 of an empty array.
func (sa *SparseArray) Span() uint64 {
	if sa.Len() == 0 {
		return 0
	}
	last, _, _ := sa.slots.Max()
	return last + 1
}

// Next is the index where the next append goes: 0 if nothing was appended, MaxIndex + 1 if
// there is no room.
func (sa *SparseArray) Next() uint64 {
	if sa == nil {
		return 0
	}
	return sa.next
}

// Seek makes i the index of the next append.
func (sa *SparseArray) Seek(i uint64) { sa.next = i }

// Get is the value at index i.
func (sa *SparseArray) Get(i uint64) (value string, used bool) {
	if sa == nil {
		return "", false
	}
	return sa.slots.Get(i)
}

// Set stores a value at index i, at most MaxIndex, and reports whether the slot was unused.
func (sa *SparseArray) Set(i uint64, value string) (unused bool) {
	slot, _, had := sa.slots.Upsert(i, func(i uint64) uint64 { return i })
	if had {
		sa.size -= slotCost + int64(len(*slot))
	}
	*slot = value
	sa.size += slotCost + int64(len(value))
	return !had
}

// Delete removes the value at index i and reports whether there was one.
func (sa *SparseArray) Delete(i uint64) bool {
	value, had := sa.slots.Remove(i)
	if had {
		sa.size -= slotCost + int64(len(value))
	}
	return had
}

// Clear removes all values and keeps the index of the next append.
func (sa *SparseArray) Clear() { sa.slots, sa.size = newSlots(), 0 }

// Between is the number of used slots from index low up to high, both included.
func (sa *SparseArray) Between(low, high uint64) int {
	if sa == nil || low > high {
		return 0
	}
	return sa.slots.RankHead(min(high, MaxIndex)+1) - sa.slots.RankHead(low)
}

// Ascend calls f for the used slots from index i on until it returns false.
func (sa *SparseArray) Ascend(i uint64, f func(i uint64, value string) bool) {
	if sa != nil {
		sa.slots.Ascend(i, f)
	}
}

// Descend calls f for the used slots from index i down to 0 until it returns false. A step
// takes the time of a look-up.
func (sa *SparseArray) Descend(i uint64, f func(i uint64, value string) bool) {
	if sa == nil {
		return
	}
	for n := sa.slots.RankHead(min(i, MaxIndex)+1) - 1; n >= 0; n-- {
		if !f(sa.slots.At(n)) {
			return
		}
	}
}

// Encode writes the index of the next append and the used slots in order.
func (sa *SparseArray) Encode(w *wire.Writer) {
	w.Uvarint(sa.next)
	w.Uvarint(uint64(sa.Len()))
	before := uint64(0)
	sa.slots.All(func(i uint64, value string) bool {
		w.Uvarint(i - before)
		w.String(value)
		before = i
		return true
	})
	w.Bool(true) // a record that is cut reads as zeros
}

// DecodeArray reads what Encode has written, all of it; ok is false if it is no array.
func DecodeArray(record []byte) (c *SparseArray, ok bool) {
	r := wire.NewReader(record)
	v, ok := decodeArray(r)
	if !ok || r.Done() != nil {
		return nil, false
	}
	return v.(*SparseArray), true
}

func decodeArray(r *wire.Reader) (Container, bool) {
	s := &SparseArray{next: r.Uvarint()}
	b := cow.NewBuilder[uint64, string](headOfIndex, cmp.Compare[uint64])
	n, at := r.Count(2), uint64(0)
	for range n {
		step := r.Uvarint()
		if at+step < at {
			return nil, false
		}
		at += step
		value := r.String()
		if at > MaxIndex || r.Err() != nil || !b.Add(at, value) {
			return nil, false
		}
		s.size += slotCost + int64(len(value))
	}
	s.slots = b.Tree()
	return s, n > 0 && r.Bool() && r.Err() == nil
}
