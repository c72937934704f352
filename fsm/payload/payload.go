package payload

import (
	"crypto/sha256"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Apart is the length in bytes from which on bytes are stored as a Payload.
const Apart = 1 << 10

// countedShare is the part of a stored Payload that counts as memory, as a divisor: what the handle and young payloads cost,
// and a bound for what fills the disks.
const countedShare = 16

// Digest identifies bytes: SHA-256.
type Digest = [sha256.Size]byte

// DigestOf is the digest of b.
func DigestOf(b []byte) Digest { return sha256.Sum256(b) }

// Kept is bytes that a Keeper holds. Its methods may be called by any goroutine.
type Kept interface {
	// Bytes are the bytes, which must not be changed. It does not return if they are lost: the node ends then.
	Bytes() []byte
	Len() int
	Digest() Digest
}

// Cold is a Kept that can be read again and again without reading the disk each time.
type Cold interface {
	Kept
	// Near returns the bytes, which must not be changed, if they are in memory.
	Near() (b []byte, ok bool)
	// Hold is Bytes, and has the bytes stay in memory for a while.
	Hold() []byte
}

// Keeper holds bytes where the node wants them.
type Keeper interface {
	// Keep takes b, which is not changed any more. It returns nil for what it leaves to the caller.
	Keep(b []byte) Kept
}

// Reference names a payload of Len bytes.
type Reference struct {
	Digest Digest
	Len    int
}

// Files is a Keeper whose payloads can be named, because it has them in files that survive the process.
type Files interface {
	Keeper
	// Place writes the bytes of some of its payloads to files, unless they are there. They are durable after the next Sync.
	Place([]Kept) error
	Sync() error
	// Put writes byte strings, which are not changed any more, to files, and returns their handles in the same order.
	Put([][]byte) ([]Cold, error)
	// Named returns the payloads that are named, in the same order. The bytes of those that are not in a file are asked of
	// other nodes.
	Named([]Reference) []Kept
}

// Payload is an immutable byte string. The zero one is empty.
type Payload struct {
	// at is the first of n bytes, or a *held if n is negative: records that hold payloads are many, and this is two words.
	at unsafe.Pointer
	n  int
}

// Of is the payload that a keeper has.
func Of(k Kept) Payload { return Payload{at: unsafe.Pointer(&held{k}), n: -1} }

// Kept returns the handle of the payload, nil if no keeper has it.
func (p Payload) Kept() Kept {
	if k := p.kept(); k != nil {
		return k.Kept
	}
	return nil
}

// held is a Kept behind one word.
type held struct{ Kept }

// New is b, which must not be changed any more, in the care of k if that is not nil.
func New(b []byte, k Keeper) Payload {
	if k != nil && len(b) >= Apart {
		if kept := k.Keep(b); kept != nil {
			return Payload{at: unsafe.Pointer(&held{kept}), n: -1}
		}
	}
	return inline(unsafe.String(unsafe.SliceData(b), len(b)))
}

func inline(s string) Payload {
	return Payload{at: unsafe.Pointer(unsafe.StringData(s)), n: len(s)}
}

// kept returns the handle of a payload that a Keeper holds, or nil.
func (p Payload) kept() *held {
	if p.n >= 0 {
		return nil
	}
	return (*held)(p.at)
}

// Held reports whether a Keeper has the payload.
func (p Payload) Held() bool { return p.kept() != nil }

// Bytes are the bytes, which must not be changed.
func (p Payload) Bytes() []byte {
	if k := p.kept(); k != nil {
		return k.Bytes()
	}
	return unsafe.Slice((*byte)(p.at), p.n)
}

// Len is their number.
func (p Payload) Len() int {
	if k := p.kept(); k != nil {
		return k.Len()
	}
	return p.n
}

// Digest returns the digest of the bytes.
func (p Payload) Digest() Digest {
	if k := p.kept(); k != nil {
		return k.Digest()
	}
	return DigestOf(p.Bytes())
}

// Uncounted returns the bytes of n that do not count as memory if they are stored as one Payload.
func Uncounted(n int) int64 {
	if n < Apart {
		return 0
	}
	return int64(n - n/countedShare)
}

// Uncounted returns the bytes of the payload that do not count as memory.
func (p Payload) Uncounted() int64 { return Uncounted(p.Len()) }

// Stored is p itself if a Keeper has it, and otherwise a copy of it in the care of k.
func (p Payload) Stored(k Keeper) Payload {
	if p.kept() != nil {
		return p
	}
	return New(append([]byte(nil), p.Bytes()...), k)
}

// mostNamed is the length in bytes up to which a payload is named: another node can send as much with one answer.
const mostNamed = 32 << 20

// Field writes or reads the payload as bytes with their length; what is read aliases its source and has no keeper yet. If
// digests are asked for (wire.Writer.Digests) one of Apart bytes or more is written as its length and its digest. A writer
// with References names one that a Keeper has, or each of Apart bytes; what was named is read as what it was.
func (p *Payload) Field(c *wire.Codec) {
	if c.Reading() {
		switch k, b := c.Reader().Large(); k := k.(type) {
		case nil:
			*p = inline(unsafe.String(unsafe.SliceData(b), len(b)))
		case Payload:
			*p = k
		default:
			*p = Payload{at: unsafe.Pointer(&held{k}), n: -1}
		}
		return
	}
	w := c.Writer()
	if !w.Digests || p.Len() < Apart {
		switch k := p.kept(); {
		case w.References != nil && w.References.All && p.Len() >= Apart:
			w.Large(*p, p.Bytes)
		case k != nil && k.Len() <= mostNamed:
			w.Large(k.Kept, p.Bytes)
		default:
			w.Large(nil, p.Bytes)
		}
		return
	}
	d := p.Digest()
	w.Uvarint(uint64(p.Len()))
	w.Fixed(d[:])
}
