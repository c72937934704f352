package keyspace

import "github.com/trireme-dev/trireme/fsm/listpack"

// Beyond these Redis stops packing a value, by its default settings. It never packs a
// value again; we say what it would do with the elements that are there now, because
// nothing but the value may decide what a node answers. Sorted sets alone remember.
const (
	embeddedText = 44  // bytes of a string that stands in one piece with its object
	packedFields = 512 // fields of a hash
	packedText   = 64  // bytes of a field, its value or a member
	packedInts   = 512 // members of a set of integers
	packedList   = 8192
)

// Encoding names the form in which Redis 8 would keep the value, for OBJECT ENCODING.
// It looks at a few hundred elements at most.
func (o *Object) Encoding() string {
	switch c := o.data.(type) {
	case *Elements:
		return c.encoding()
	case *Fields:
		return c.encoding()
	case *Members:
		return c.encoding()
	case *ZSet:
		if c.loose {
			return "skiplist"
		}
		return "listpack"
	case *Vectors:
		return "flat"
	case *SparseArray:
		return "sliced-array"
	}
	switch {
	case o.Type() == Stream:
		return "stream"
	case o.Type() != String:
		return "raw"
	}
	return o.textEncoding()
}

func (o *Object) textEncoding() string {
	if o.Len() > embeddedText {
		return "raw"
	}
	if _, ok := listpack.ParseInt(o.Text()); ok {
		return "int"
	}
	return "embstr"
}

func (l *Elements) encoding() string {
	size := listpack.EmptySize
	l.Ascend(0, func(_ int, v string) bool {
		size += listpack.EntrySize(v)
		return size <= packedList
	})
	if size > packedList {
		return "quicklist"
	}
	return "listpack"
}

func (h *Fields) encoding() string {
	loose := h.cells.len() > packedFields
	h.cells.all(func(name string, c cell) bool {
		loose = loose || len(name) > packedText || len(c.value) > packedText
		return !loose
	})
	switch {
	case loose:
		return "hashtable"
	case h.timed > 0:
		return "listpackex"
	}
	return "listpack"
}

func (s *Members) encoding() string {
	ints, short := s.Len() <= packedInts, s.Len() <= packedMembers
	s.All(func(member string) bool {
		if ints {
			_, ints = listpack.ParseInt(member)
		}
		short = short && len(member) <= packedMember
		return ints || short
	})
	switch {
	case ints:
		return "intset"
	case short:
		return "listpack"
	}
	return "hashtable"
}
