package keyspace

import "github.com/trireme-dev/trireme/fsm/listpack"

// Beyond these Redis stops packing a value, by its default settings. It never packs a
// value again; we say what it would do with the elements that are there now, because
// nothing but the value may decide what a node answers. Sorted sets alone remember.
const (
	embeddedText = 44  // bytes of a string that is allocated with its object
	packedFields = 512 // fields of a hash
	packedText   = 64  // bytes of a field, its value or a member
	packedInts   = 512 // members of a set of integers
	packedList   = 8192
)

// maxPacked bounds how many elements are looked at, however high a threshold is set.
const maxPacked = 1 << 16

// Thresholds are the parameters of Redis that say up to where it packs a value.
type Thresholds struct {
	// HashEntries, SetInts and ZSetEntries count fields and members.
	HashEntries, SetInts, ZSetEntries int64
	// HashValue and ZSetValue are bytes of a field, value or member.
	HashValue, ZSetValue int64
	// Redis7 says that lists and sets of texts are never packed, as before 7.2.
	Redis7 bool
}

// DefaultThresholds are those of Redis 8.
func DefaultThresholds() Thresholds {
	return Thresholds{HashEntries: packedFields, HashValue: packedText, SetInts: packedInts, ZSetEntries: packedMembers, ZSetValue: packedMember}
}

// Encoding names the form in which Redis 8 would keep the value by its default settings.
func (o *Object) Encoding() string { return o.EncodingBy(DefaultThresholds()) }

// EncodingBy names the form in which Redis would keep the value, for OBJECT ENCODING.
// It looks at maxPacked elements at most.
func (o *Object) EncodingBy(t Thresholds) string {
	switch c := o.Data().(type) {
	case *Elements:
		return c.encoding(t)
	case *Fields:
		return c.encoding(t)
	case *Members:
		return c.encoding(t)
	case *ZSet:
		return c.encoding(t)
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

func (e *Elements) encoding(t Thresholds) string {
	if t.Redis7 {
		return "quicklist"
	}
	size := listpack.EmptySize
	e.Ascend(0, func(_ int, v string) bool {
		size += listpack.EntrySize(v)
		return size <= packedList
	})
	if size > packedList {
		return "quicklist"
	}
	return "listpack"
}

func (fi *Fields) encoding(t Thresholds) string {
	loose := int64(fi.fields.len()) > min(t.HashEntries, maxPacked)
	fi.fields.all(func(f field) bool {
		name, value, _ := f.parts()
		loose = loose || int64(max(len(name), len(value))) > t.HashValue
		return !loose
	})
	switch {
	case loose:
		return "hashtable"
	case fi.timed > 0:
		return "listpackex"
	}
	return "listpack"
}

func (zs *ZSet) encoding(t Thresholds) string {
	loose := zs.loose || int64(zs.Len()) > t.ZSetEntries
	if loose || t.ZSetValue >= packedMember {
		return map[bool]string{true: "skiplist", false: "listpack"}[loose]
	}
	for _, s := range zs.Range(0, zs.Len()) { // packedMembers at most
		if int64(len(s.Member)) > t.ZSetValue {
			return "skiplist"
		}
	}
	return "listpack"
}

func (m *Members) encoding(t Thresholds) string {
	ints, short := int64(m.Len()) <= min(t.SetInts, maxPacked), !t.Redis7 && m.Len() <= packedMembers
	m.All(func(member string) bool {
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
