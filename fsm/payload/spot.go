package payload

import (
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"sync/atomic"
)

// Shelf is a file of a Keeper that has cold strings. What refers to a string in it has a pointer to the Shelf, so the keeper
// learns from the garbage collector when nothing in memory refers to the file: no string has a handle of its own there.
type Shelf struct {
	file ShelfFile
	// leave: the keeper wants to be rid of the file.
	leave atomic.Bool
	// rounds are the last two rounds in which its strings were counted, the one with an even number first.
	rounds [2]struct {
		number atomic.Uint64
		bytes  atomic.Int64
	}
}

// ShelfFile reads the strings of a Shelf. Any goroutine may call its methods: they do what those of Cold say.
type ShelfFile interface {
	Bytes(Spot) []byte
	Digest(Spot) Digest
	Near(Spot) (b []byte, ok bool)
	Hold(Spot) []byte
}

// NewShelf returns the Shelf of a file.
func NewShelf(f ShelfFile) *Shelf { return &Shelf{file: f} }

// Spot is a cold string on a Shelf: a Cold that takes two words in an object.
type Spot struct {
	Shelf *Shelf
	// Position is the place in the file, Length that of the string in bytes, and Sum the SpotSum of its digest.
	Position, Length, Sum uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// SpotSum returns the checksum of a digest. With it, a digest that is read from the disk is verified.
func SpotSum(d *Digest) uint32 {
	return crc32.Checksum(d[:], castagnoli) ^ binary.LittleEndian.Uint32(d[:])
}

// Bytes is that of Kept. The Shelf lives until the end of each read, so the file stays, too.
func (s Spot) Bytes() []byte {
	defer runtime.KeepAlive(s.Shelf)
	return s.Shelf.file.Bytes(s)
}

// Len is that of Kept.
func (s Spot) Len() int { return int(s.Length) }

// Digest is that of Kept. It reads the disk, but no more than a few hundred bytes for each string.
func (s Spot) Digest() Digest {
	defer runtime.KeepAlive(s.Shelf)
	return s.Shelf.file.Digest(s)
}

// Near is that of Cold.
func (s Spot) Near() ([]byte, bool) { return s.Shelf.file.Near(s) }

// Hold is that of Cold.
func (s Spot) Hold() []byte {
	defer runtime.KeepAlive(s.Shelf)
	return s.Shelf.file.Hold(s)
}

// File returns the keeper's part of the Shelf.
func (s Spot) File() ShelfFile { return s.Shelf.file }

// SpotOf returns the Spot of a string; ok is false if it has none, or not yet.
func SpotOf(k Kept) (spot Spot, ok bool) {
	switch k := k.(type) {
	case Spot:
		return k, true
	case interface{ Spot() (Spot, bool) }:
		return k.Spot()
	}
	return Spot{}, false
}

// Leave asks for all strings of the Shelf to be moved to others.
func (s *Shelf) Leave() { s.leave.Store(true) }

// Leaving reports whether Leave was called.
func (s *Shelf) Leaving() bool { return s.leave.Load() }

// Count counts a string of n bytes that a walk over the state has found in a round, the first of which has the number 1. One goroutine
// calls it.
func (s *Shelf) Count(round uint64, n uint32) {
	r := &s.rounds[round%2]
	if r.number.Load() != round {
		r.bytes.Store(0)
		r.number.Store(round)
	}
	r.bytes.Add(int64(n))
}

// Counted returns the bytes that were counted in a round, the last one that has ended.
func (s *Shelf) Counted(round uint64) int64 {
	if r := &s.rounds[round%2]; r.number.Load() == round {
		return r.bytes.Load()
	}
	return 0
}

// Walked is told of walks over the state that count what is on shelves.
type Walked interface {
	// Walked is called when a round has ended.
	Walked(round uint64)
}
