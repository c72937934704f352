package hll

import (
	"encoding/binary"
	"errors"
)

const (
	registers   = 1 << indexBits
	indexBits   = 14
	hashBits    = 64 - indexBits
	width       = 6 // bits of a register
	headerSize  = 16
	denseSize   = headerSize + registers*width/8
	MaxSparse   = 3000 // bytes, header included, beyond which a sketch turns dense
	encodingAt  = 4
	cacheAt     = 8
	staleMark   = 1 << 7 // in the last byte of the cache
	magic       = "HYLL"
	dense       = 0
	sparse      = 1
	seed        = 0xadc83b19
	cacheLength = 8
)

// ErrCorrupt says that the registers of a sketch can't be read.
var ErrCorrupt = errors.New("hll: corrupt registers")

// Sketch is a value being read or changed. Make one with New or Open.
type Sketch struct {
	text  string // what it was opened with, as long as nothing has changed
	bytes []byte // nil until something changes
}

// New is the empty sketch, whose cached estimate is marked stale as after any change.
func New() *Sketch {
	b := append([]byte(magic), sparse, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, staleMark)
	return &Sketch{bytes: appendZeros(b, registers)}
}

// Open reads text as a sketch; ok is false if it is none. The registers are looked at
// only when they are needed.
func Open(text string) (s *Sketch, ok bool) {
	ok = len(text) >= headerSize && text[:4] == magic && text[encodingAt] <= sparse &&
		(text[encodingAt] != dense || len(text) == denseSize)
	return &Sketch{text: text}, ok
}

// Bytes are the changed value, nil if nothing has changed. They must not be written to.
func (s *Sketch) Bytes() []byte { return s.bytes }

// Dense reports whether the registers are packed rather than run-length coded.
func (s *Sketch) Dense() bool { return s.at(encodingAt) == dense }

func (s *Sketch) len() int {
	if s.bytes != nil {
		return len(s.bytes)
	}
	return len(s.text)
}

func (s *Sketch) at(i int) byte {
	if s.bytes != nil {
		return s.bytes[i]
	}
	return s.text[i]
}

// own makes bytes this sketch's to change.
func (s *Sketch) own() {
	if s.bytes == nil {
		s.bytes = []byte(s.text)
	}
}

// Stale marks the cached estimate as out of date.
func (s *Sketch) Stale() {
	s.own()
	s.bytes[headerSize-1] |= staleMark
}

// cached is the estimate in the header, if it is up to date. We never write one:
// a read would change replicated bytes. Values that come from elsewhere may hold one.
func (s *Sketch) cached() (n uint64, ok bool) {
	if s.at(headerSize-1)&staleMark != 0 {
		return 0, false
	}
	var card [cacheLength]byte
	for i := range card {
		card[i] = s.at(cacheAt + i)
	}
	return binary.LittleEndian.Uint64(card[:]), true
}

// Add counts an element and reports whether a register changed.
func (s *Sketch) Add(element []byte) (changed bool, err error) {
	index, rank := pattern(element)
	changed, err = s.raise(index, rank)
	if changed {
		s.Stale()
	}
	return changed, err
}

// pattern is the register of an element, and one more than the zeros at the low end of
// the rest of its hash.
func pattern(element []byte) (index int, rank byte) {
	h := murmur64A(element)
	index = int(h & (registers - 1))
	h = h>>indexBits | 1<<hashBits
	for rank = 1; h&1 == 0; rank++ {
		h >>= 1
	}
	return index, rank
}

// raise sets a register to rank unless it is as great already.
func (s *Sketch) raise(index int, rank byte) (changed bool, err error) {
	if s.Dense() {
		return s.raiseDense(index, rank), nil
	}
	return s.raiseSparse(index, rank)
}

// Registers are all registers of a sketch or of several, each the greatest of them.
type Registers [registers]byte

// Add counts an element.
func (r *Registers) Add(element []byte) {
	index, rank := pattern(element)
	r[index] = max(r[index], rank)
}

// Merge raises r to the registers of s.
func (r *Registers) Merge(s *Sketch) error {
	if s.Dense() {
		for i := range r {
			r[i] = max(r[i], s.register(i))
		}
		return nil
	}
	return s.runs(func(from, to int, rank byte) {
		for i := from; i < to && rank > 0; i++ {
			r[i] = max(r[i], rank)
		}
	})
}

// Raise raises s to r and marks the cached estimate as stale.
func (s *Sketch) Raise(r *Registers) error {
	for i, rank := range r {
		if rank == 0 {
			continue
		}
		if _, err := s.raise(i, rank); err != nil {
			return err
		}
	}
	s.Stale()
	return nil
}

// murmur64A is the 64-bit hash of MurmurHash2 with Redis's seed.
func murmur64A(b []byte) uint64 {
	const (
		m = 0xc6a4a7935bd1e995
		r = 47
	)
	h := seed ^ uint64(len(b))*m
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * m
		k ^= k >> r
		h = (h ^ k*m) * m
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		h = (h ^ binary.LittleEndian.Uint64(last[:])) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}
