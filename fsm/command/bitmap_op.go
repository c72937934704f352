package command

import (
	"encoding/binary"
	"strings"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var errNotOneKey = reply.Error("ERR BITOP NOT must be called with a single source key.")

// bitOps are the operations by name. Each starts with a copy of its first source and folds the others into it; all are as long as
// the longest of them, shorter ones end in zeros.
var bitOps = []struct {
	name string
	two  bool // needs two sources
	fold func(out []byte, sources []*keyspace.Object)
}{
	{"AND", false, foldAnd},
	{"OR", false, foldOr},
	{"XOR", false, foldXor},
	{"NOT", false, foldNot},
	{"DIFF", true, foldDiff},
	{"DIFF1", true, foldDiff1},
	{"ANDOR", true, foldAndOr},
	{"ONE", false, foldOne},
}

func bitOp(tx *Tx, a *Args) reply.Value {
	op := -1
	for i := range bitOps {
		if op < 0 && a.Word(bitOps[i].name) {
			op = i
		}
	}
	if op < 0 {
		return ErrSyntax
	}
	destination, keys := a.Bytes(), a.Rest()
	switch name := bitOps[op].name; {
	case name == "NOT" && len(keys) != 1:
		return errNotOneKey
	case bitOps[op].two && len(keys) < 2:
		return reply.Error("ERR BITOP " + name + " must be called with at least two source keys.")
	}
	sources, length := make([]*keyspace.Object, len(keys)), 0
	for i, key := range keys {
		o, ok := tx.findText(key)
		if !ok {
			return ErrWrongType
		}
		sources[i], length = o, max(length, o.Len())
	}
	if length == 0 {
		tx.remove(destination)
		return reply.Int(0)
	}
	text := extended(sources[0], length)
	bitOps[op].fold(unsafe.Slice(unsafe.StringData(text), length), sources)
	tx.DB.SetText(tx.Env, destination, text, 0)
	tx.Event(StringEvent, "set", destination)
	return reply.Int(int64(length))
}

// extended is a copy of o with zeros after it, so long that nobody else has it yet: it may be changed in place. Memory is not
// cleared before it is written, which takes as long as an operation does.
func extended(o *keyspace.Object, length int) string {
	var b strings.Builder
	b.Grow(length)
	o.Pieces(0, o.Len(), func(s string) bool {
		b.WriteString(s)
		return true
	})
	for b.Len() < length {
		b.Write(noBits[:min(len(noBits), length-b.Len())])
	}
	return b.String()
}

var noBits [4096]byte

// eachPiece calls f for the bytes of o piece by piece, and for as much of out. f must not change the former.
func eachPiece(out []byte, o *keyspace.Object, f func(into, from []byte)) {
	o.Pieces(0, o.Len(), func(s string) bool {
		f(out[:len(s)], unsafe.Slice(unsafe.StringData(s), len(s)))
		out = out[len(s):]
		return true
	})
}

// wordBytes is the number of bytes that an operation combines at once.
const wordBytes = 8

// word and putWord read and write the first eight bytes.
func word(b []byte) uint64       { return binary.LittleEndian.Uint64(b) }
func putWord(b []byte, w uint64) { binary.LittleEndian.PutUint64(b, w) }

// Each operation is a loop of its own: a call for every word would take several times as long as the operation.

func andInto(into, from []byte) {
	for ; len(from) >= wordBytes; into, from = into[wordBytes:], from[wordBytes:] {
		putWord(into, word(into)&word(from))
	}
	for i, c := range from {
		into[i] &= c
	}
}

func orInto(into, from []byte) {
	for ; len(from) >= wordBytes; into, from = into[wordBytes:], from[wordBytes:] {
		putWord(into, word(into)|word(from))
	}
	for i, c := range from {
		into[i] |= c
	}
}

func xorInto(into, from []byte) {
	for ; len(from) >= wordBytes; into, from = into[wordBytes:], from[wordBytes:] {
		putWord(into, word(into)^word(from))
	}
	for i, c := range from {
		into[i] ^= c
	}
}

func andNotInto(into, from []byte) {
	for ; len(from) >= wordBytes; into, from = into[wordBytes:], from[wordBytes:] {
		putWord(into, word(into)&^word(from))
	}
	for i, c := range from {
		into[i] &^= c
	}
}

// foldAnd keeps what is set in all.
func foldAnd(out []byte, sources []*keyspace.Object) {
	for _, o := range sources[1:] {
		eachPiece(out, o, andInto)
		clear(out[o.Len():])
	}
}

func foldOr(out []byte, sources []*keyspace.Object) {
	for _, o := range sources[1:] {
		eachPiece(out, o, orInto)
	}
}

func foldXor(out []byte, sources []*keyspace.Object) {
	for _, o := range sources[1:] {
		eachPiece(out, o, xorInto)
	}
}

func foldNot(out []byte, _ []*keyspace.Object) { invert(out) }

func invert(out []byte) {
	for ; len(out) >= wordBytes; out = out[wordBytes:] {
		putWord(out, ^word(out))
	}
	for i := range out {
		out[i] = ^out[i]
	}
}

// foldDiff keeps what is set in the first and in no other.
func foldDiff(out []byte, sources []*keyspace.Object) {
	for _, o := range sources[1:] {
		eachPiece(out, o, andNotInto)
	}
}

// foldDiff1 keeps what is set in another and not in the first: what is left of all without the first.
func foldDiff1(out []byte, sources []*keyspace.Object) {
	foldOr(out, sources)
	eachPiece(out, sources[0], andNotInto)
}

// foldAndOr keeps what is set in the first and in another.
func foldAndOr(out []byte, sources []*keyspace.Object) {
	clear(out)
	for _, o := range sources[1:] {
		eachPiece(out, o, orInto)
	}
	eachPiece(out, sources[0], andInto)
	clear(out[sources[0].Len():])
}

// foldOne keeps what is set in exactly one.
func foldOne(out []byte, sources []*keyspace.Object) {
	twice := make([]byte, len(out))
	for _, o := range sources[1:] {
		again := twice
		eachPiece(out, o, func(into, from []byte) {
			for i, c := range from {
				again[i] |= into[i] & c
				into[i] |= c
			}
			again = again[len(from):]
		})
	}
	andNotInto(out, twice)
}
