package keyspace

import (
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Type is the data type of a key.
type Type uint8

// The types, in the order of their snapshot codes, which never change.
const (
	None Type = iota
	String
	List
	Hash
	Set
	SortedSet
	Stream
	JSON
	VectorIndex
	Array
)

// String is the name that TYPE answers.
func (t Type) String() string {
	return [...]string{"none", "string", "list", "hash", "set", "zset", "stream", "ReJSON-RL", "vectorindex", "array"}[t]
}

// Object is a key and its value. Objects are immutable: a change puts a new one in place, so
// forks and replies may share them. The elements of a Container may change in place, but only
// while no fork sees it; see DB.Mutable.
//
// An Object is the head of an allocation whose rest depends on its form; see forms.go.
type Object struct {
	// Expire is the deadline, 0 for none. At the deadline the key is gone.
	Expire Deadline
	// Version is the database's count of changes at the last one; see Mark.
	Version uint64

	access uint64 // this node's own, read and written atomically; see access.go

	keyLen, textLen uint16 // of inline
	form            form
	tail            [3]byte // the first bytes of the key and the text of inline
}

// Container is a value with elements. Its embedded Owned says which fork may
// change it in place.
type Container interface {
	Type() Type
	// Size is the logical size in bytes: the same arithmetic on every node.
	Size() int64
	// Clone returns a copy that can be changed without being seen through the
	// original, in constant time or in at most 128 elements.
	Clone() Container
	// Encode writes the elements for a snapshot: equal values give equal bytes.
	Encode(w *wire.Writer)
	owned() *Owned
}

// Owned is embedded by every Container.
type Owned struct {
	epoch uint64
	// hot says that the container waits to be packed, changed that it was changed since it was last looked at for that.
	hot, changed bool
}

func (o *Owned) owned() *Owned { return o }

// Type is the type of the value.
func (o *Object) Type() Type {
	if o == nil {
		return None
	}
	switch {
	case o.form == holding:
		return o.Data().Type()
	case o.isPacked():
		return Type(o.form - packed)
	}
	return String
}

// Text is the value of a String object. It is immutable and may be kept. Of a long
// string that was written in places it is a copy; see Len, Part and Pieces.
func (o *Object) Text() string {
	switch s := o.Data().(type) {
	case *appended:
		return Adopt(s.bytes)
	case *paged:
		return s.text()
	}
	return o.flat()
}

// Adopt makes a value of bytes without copying them; the caller gives them away.
func Adopt(bytes []byte) string { return unsafe.String(unsafe.SliceData(bytes), len(bytes)) }

// Alias is bytes as a string without copying them, which is safe as long as nothing
// changes them: for looking something up, not for keeping.
func Alias(bytes []byte) string { return unsafe.String(unsafe.SliceData(bytes), len(bytes)) }

// Container is Data, nil of no object too.
func (o *Object) Container() Container {
	if o == nil {
		return nil
	}
	return o.Data()
}

// Size is the logical size of the value in bytes, without what the key costs; 0 of no
// object.
func (o *Object) Size() int64 {
	if o == nil {
		return 0
	}
	return o.size()
}

// size is the logical size of the value.
func (o *Object) size() int64 {
	switch {
	case o.form == holding:
		return o.Data().Size()
	case o.isPacked():
		size, _ := o.block()
		return size
	case o.Cold():
		return int64(o.coldLen())
	}
	return int64(len(o.flat()))
}

// appended is a string that grew by APPEND. Its bytes up to the length are never
// changed; the spare room behind them belongs to the one keyspace that is of its
// epoch, so that a series of appends costs linear time. The caller that puts the value under
// a second key must take Text, which has no spare room.
type appended struct {
	Owned
	bytes []byte
}

func (a *appended) Type() Type            { return String }
func (a *appended) Size() int64           { return int64(len(a.bytes)) }
func (a *appended) Clone() Container      { return a }
func (a *appended) Encode(w *wire.Writer) { w.Bytes(a.bytes) }
