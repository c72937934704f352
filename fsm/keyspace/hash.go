package keyspace

import (
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// fieldCost is the logical overhead of a field in bytes; a deadline costs expireCost.
const fieldCost = 64

// cell is what a field holds.
type cell struct {
	value string
	at    int64 // deadline in unix milliseconds, 0 for none
}

// Fields is the container of a hash. A field past its deadline is gone for every method
// that is given the time, though it takes room until a sweep removes it. A field's name given to
// a method may be an alias: what is kept is copied; a value is kept as it is. Nil Fields
// are the empty hash, for reading.
type Fields struct {
	Owned
	cells table[cell]
	timed int                       // fields with a deadline
	dues  *cow.BTree[due, struct{}] // those by deadline, once the hash is large and has any
	size  int64
	known schedule // what the keyspace's indexes hold of this hash
}

// NewFields is an empty hash.
func NewFields() *Fields { return &Fields{} }

// Type is Hash.
func (*Fields) Type() Type { return Hash }

// Size is the logical size in bytes.
func (h *Fields) Size() int64 { return h.size }

// Clone copies the hash in constant time, or up to 64 fields one by one.
func (h *Fields) Clone() Container {
	c := &Fields{cells: h.cells.clone(), timed: h.timed, size: h.size, known: h.known}
	if h.dues != nil {
		c.dues = h.dues.Snapshot()
	}
	return c
}

// Encode writes the fields with their deadlines, expired ones too.
func (h *Fields) Encode(w *wire.Writer) {
	h.cells.encode(w, func(c cell) {
		w.String(c.value)
		w.Varint(c.at)
	})
}

func decodeFields(r *wire.Reader) (Container, bool) {
	h, valid := NewFields(), true
	var ok bool
	h.cells, ok = decodeTable(r, func() cell {
		c := cell{value: r.String()}
		valid = valid && r.Len() > 0 // a record that is cut reads as zeros
		c.at = r.Varint()
		valid = valid && c.at >= 0
		return c
	})
	h.cells.all(func(field string, c cell) bool {
		h.size += cellSize(field, c)
		h.reschedule(field, 0, c.at)
		return true
	})
	return h, ok && valid
}

func cellSize(field string, c cell) int64 {
	size := fieldCost + int64(len(field)) + int64(len(c.value))
	if c.at != 0 {
		size += expireCost
	}
	return size
}

// Len is the number of fields at now.
func (h *Fields) Len(now int64) int {
	if h == nil {
		return 0
	}
	return h.cells.len() - h.expired(now)
}

// Get is the value of a field and its deadline in unix milliseconds, 0 for none.
func (h *Fields) Get(now int64, field string) (value string, at int64, ok bool) {
	if h == nil {
		return "", 0, false
	}
	c, ok := h.cells.get(field)
	if !ok || c.expired(now) {
		return "", 0, false
	}
	return c.value, c.at, true
}

// Set gives a field a value and a deadline in unix milliseconds, or 0 for none, and tells
// whether the field is new at now.
func (h *Fields) Set(now int64, field string, value string, at int64) bool {
	slot, stored, had := h.cells.slot(field)
	if h.cells.large != nil && h.dues == nil && h.timed > 0 {
		h.index() // it has just grown
	}
	old := *slot
	if had {
		h.size -= cellSize(stored, old)
	}
	*slot = cell{value, at}
	h.size += cellSize(stored, *slot)
	h.reschedule(stored, old.at, at)
	return !had || old.expired(now)
}

// Delete removes a field and reports whether it was there at now.
func (h *Fields) Delete(now int64, field string) bool {
	old, had := h.cells.remove(field)
	if !had {
		return false
	}
	h.size -= cellSize(field, old)
	h.reschedule(field, old.at, 0)
	return !old.expired(now)
}

// All calls f for every field at now, in order, until it returns false.
func (h *Fields) All(now int64, f func(field, value string) bool) {
	if h == nil {
		return
	}
	h.cells.all(func(field string, c cell) bool { return c.expired(now) || f(field, c.value) })
}

// AllTimed is All with the deadline of each field in unix milliseconds, 0 for none.
func (h *Fields) AllTimed(now int64, f func(field, value string, at int64) bool) {
	h.cells.all(func(field string, c cell) bool { return c.expired(now) || f(field, c.value, c.at) })
}

// Timed reports whether any field has a deadline.
func (h *Fields) Timed() bool { return h.timed > 0 }

// Scan calls f for fields from cursor on until it has passed count of them, and returns the
// cursor to go on at, 0 at the end. Up to 64 fields are one page.
func (h *Fields) Scan(now int64, cursor uint64, count int, f func(field, value string)) (next uint64) {
	return h.cells.scan(cursor, count, func(field string, c cell) {
		if !c.expired(now) {
			f(field, c.value)
		}
	})
}

// Picker returns the i-th of the fields at now, 0 <= i < Len(now), in the hash's order.
func (h *Fields) Picker(now int64) func(i int) (field, value string) {
	if h.expired(now) == 0 {
		return func(i int) (string, string) {
			field, c := h.cells.at(i)
			return field, c.value
		}
	}
	var live []string // field, value, field, value, as long as a sweep is due
	h.All(now, func(field, value string) bool {
		live = append(live, field, value)
		return true
	})
	return func(i int) (string, string) { return live[2*i], live[2*i+1] }
}
