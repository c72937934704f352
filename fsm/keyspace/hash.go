package keyspace

import (
	"math"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// fieldCost is the logical overhead of a field in bytes; a deadline costs expireCost.
const fieldCost = 64

// Fields is the container of a hash. A field past its deadline is gone for every method
// that is given the time, though it takes room until a sweep removes it. A field's name given to
// a method may be an alias: what is kept is copied; a value is kept as it is. Nil Fields
// are the empty hash, for reading.
type Fields struct {
	Owned
	fields table[field]
	timed  int       // fields with a deadline
	walls  int       // those of them whose deadlines are by wall time
	dues   *dueIndex // those by deadline, once the hash is large and has any
	size   int64
	known  schedule // what the keyspace's indexes hold of this hash
}

// NewFields is an empty hash.
func NewFields() *Fields { return &Fields{} }

// Type is Hash.
func (*Fields) Type() Type { return Hash }

// Size is the logical size in bytes.
func (fi *Fields) Size() int64 { return fi.size }

// Clone copies the hash in constant time, or up to 128 fields one by one.
func (fi *Fields) Clone() Container {
	c := &Fields{fields: fi.fields.clone(), timed: fi.timed, walls: fi.walls, size: fi.size, known: fi.known}
	if fi.dues != nil {
		c.dues = fi.dues.Snapshot()
	}
	return c
}

// Encode writes the fields with their deadlines, expired ones too.
func (fi *Fields) Encode(w *wire.Writer) {
	fi.fields.encode(w, func(f field) { w.B = append(w.B, f.text()...) })
}

func decodeFields(r *wire.Reader) (Container, bool) {
	h, valid := NewFields(), true
	var ok bool
	h.fields, ok = decodeTable(r, func() field {
		name, value := Alias(r.Bytes()), Alias(r.Bytes())
		valid = valid && r.Len() > 0 // a record that is cut reads as zeros
		at := r.Varint()
		valid = valid && at != math.MinInt64
		return newField(name, value, deadlineOf(at))
	})
	h.fields.all(func(f field) bool {
		h.size += f.size()
		h.reschedule(f.name(), 0, f.at())
		return true
	})
	return h, ok && valid
}

// elements keeps hashes with deadlines from being packed.
func (fi *Fields) elements() int {
	if fi.timed > 0 {
		return MaxPackedElements + 1
	}
	return fi.fields.len()
}

// Len is the number of fields at now.
func (fi *Fields) Len(now env.Time) int {
	if fi == nil {
		return 0
	}
	return fi.fields.len() - fi.expired(now)
}

// Get is the value of a field and its deadline, 0 for none.
func (fi *Fields) Get(now env.Time, name string) (value string, at Deadline, ok bool) {
	if fi == nil {
		return "", 0, false
	}
	f, ok := fi.fields.get(name)
	if !ok {
		return "", 0, false
	}
	_, value, at = f.parts()
	if at.Passed(now) {
		return "", 0, false
	}
	return value, at, true
}

// Set gives a field a value and a deadline, or 0 for none, and tells
// whether the field is new at now.
func (fi *Fields) Set(now env.Time, name string, value string, at Deadline) bool {
	place, had := fi.fields.place(name)
	was, expired := Deadline(0), false
	if had {
		fi.size -= place.size()
		was = place.at()
		expired = was.Passed(now)
	}
	*place = newField(name, value, at)
	fi.size += place.size()
	if fi.fields.large != nil && fi.dues == nil && fi.timed > 0 { // it has just grown
		fi.index()
	}
	fi.reschedule(name, was, at)
	return !had || expired
}

// Delete removes a field and reports whether it was there at now.
func (fi *Fields) Delete(now env.Time, name string) bool {
	old, had := fi.fields.remove(name)
	if !had {
		return false
	}
	fi.size -= old.size()
	fi.reschedule(name, old.at(), 0)
	return !old.expired(now)
}

// All calls f for every field at now, in order, until it returns false.
func (fi *Fields) All(now env.Time, f func(name, value string) bool) {
	if fi != nil {
		fi.AllTimed(now, func(name, value string, _ Deadline) bool { return f(name, value) })
	}
}

// AllTimed is All with the deadline of each field, 0 for none.
func (fi *Fields) AllTimed(now env.Time, f func(name, value string, at Deadline) bool) {
	fi.fields.all(func(one field) bool {
		name, value, at := one.parts()
		return at.Passed(now) || f(name, value, at)
	})
}

// Timed reports whether any field has a deadline.
func (fi *Fields) Timed() bool { return fi.timed > 0 }

// Scan calls f for fields from cursor on until it has passed count of them, and returns the
// cursor to go on at, 0 at the end. Up to 64 fields are one page.
func (fi *Fields) Scan(now env.Time, cursor uint64, count int, f func(name, value string)) (next uint64) {
	return fi.fields.scan(cursor, count, func(one field) {
		if name, value, at := one.parts(); !at.Passed(now) {
			f(name, value)
		}
	})
}

// Picker returns the i-th of the fields at now, 0 <= i < Len(now), in the hash's order.
func (fi *Fields) Picker(now env.Time) func(i int) (name, value string) {
	if fi.expired(now) == 0 {
		return func(i int) (string, string) {
			name, value, _ := fi.fields.at(i).parts()
			return name, value
		}
	}
	var live []string // name, value, name, value, as long as a sweep is due
	fi.All(now, func(name, value string) bool {
		live = append(live, name, value)
		return true
	})
	return func(i int) (string, string) { return live[2*i], live[2*i+1] }
}
