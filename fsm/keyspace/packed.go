package keyspace

import (
	"encoding/binary"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// A small hash, set, sorted set or list at rest is packed: the record that a snapshot has of it (Container.Encode) stands
// behind its key, in one allocation without pointers. A reader gets a view, which reads the record in place; a writer gets a
// container of its own, which is packed again when it has not been changed for a while. Which form a value has is this
// node's own affair: nothing that an apply computes depends on it. docs/design/memory.md has the reasons.

const (
	// MaxPackedElements and MaxPackedBytes bound what is packed: elements, and the bytes of their record.
	MaxPackedElements = 128
	MaxPackedBytes    = 8 << 10
	// mostPackedSize bounds the logical size of what is encoded to see whether it fits: a container of few large elements is not.
	mostPackedSize = MaxPackedBytes + MaxPackedElements*scoredCost
	// maxPackedKey is the largest key, in bytes, that a packed value may have.
	maxPackedKey = 1024
	// Hot is the number of containers of a keyspace that stay as they are although they could be packed, because they
	// were changed lately: changing a packed value costs as much as reading and writing all of it.
	Hot = 64
)

// packable is a container that may be packed.
type packable interface {
	Container
	// elements returns the number of elements, or a larger one if the value must not be packed now.
	elements() int
}

// pack returns a copy of o with its container packed, or o itself if that is no container to pack. w has room.
func (o *Object) pack(w *wire.Writer) *Object {
	if o.form != holding || len(o.key()) > maxPackedKey {
		return o
	}
	c, ok := o.Data().(packable)
	if !ok || c.elements() == 0 || c.elements() > MaxPackedElements || c.Size() > mostPackedSize {
		return o
	}
	w.B = binary.AppendUvarint(w.B[:0], uint64(c.Size()))
	c.Encode(w)
	if len(w.B) > MaxPackedBytes {
		return o
	}
	return o.passOn(newBlock(packed+form(c.Type()), o.key(), Alias(w.B)))
}

// isPacked reports whether o is a packed value.
func (o *Object) isPacked() bool { return o.form > packed }

// block cuts the text of a packed value into the logical size and the record.
func (o *Object) block() (size int64, record string) {
	text := o.flat()
	n, length := binary.Uvarint([]byte(text[:min(len(text), binary.MaxVarintLen64)]))
	return int64(n), text[length:]
}

// view returns a container for reading a packed value, which its caller alone has. Clone makes one for writing.
func (o *Object) view() Container {
	size, record := o.block()
	switch Type(o.form - packed) {
	case Hash:
		return &Fields{fields: viewTable(record, cutField), size: size}
	case Set:
		return &Members{members: viewTable(record, cutMember), size: size}
	case SortedSet:
		return viewZSet(record, size)
	default:
		return viewList(record, size)
	}
}

// cutCount takes a number off a record.
func cutCount(record string) (n int, rest string) {
	if record[0] < 0x80 {
		return int(record[0]), record[1:]
	}
	return int(record[0]&0x7f) | int(record[1])<<7, record[2:] // no more than MaxPackedElements
}

// warm notes that a container under a key was changed, which then stays as it is for a while.
func (db *DB) warm(key string, c Container) {
	p, ok := c.(packable)
	if !ok {
		return
	}
	o := p.owned()
	if o.changed = true; !o.hot && p.elements() <= MaxPackedElements {
		o.hot = true
		db.hot = append(db.hot, key)
	}
}

// Cool packs containers, those that were not changed for a while first, until at most keep of the small ones are not packed. It is
// called between commands: what a command has looked up stays what it is until its end.
func (db *DB) Cool(keep int) {
	for spared := 0; len(db.hot) > keep; {
		key := db.hot[0]
		db.hot = db.hot[1:]
		o := db.get(key)
		if o == nil || o.form != holding {
			continue
		}
		own := o.Data().owned()
		if own.changed && spared < keep {
			own.changed = false
			db.hot = append(db.hot, key)
			spared++
			continue
		}
		own.hot = false
		if small := o.pack(&db.room); small != o {
			*db.slot(key) = small
		}
	}
}
