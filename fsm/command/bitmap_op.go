package command

import (
	"encoding/binary"
	"unsafe"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var errNotOneKey = reply.Error("ERR BITOP NOT must be called with a single source key.")

// bitOps are the operations by name. Each folds the sources into out, which is as long
// as the longest of them; shorter ones end in zeros.
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
	out := make([]byte, length)
	bitOps[op].fold(out, sources)
	tx.DB.SetText(tx.Env, destination, keyspace.Adopt(out), 0)
	tx.Event(StringEvent, "set", destination)
	return reply.Int(int64(length))
}

// eachPiece calls f for the bytes of o piece by piece, with the place of the first. f must not
// change them.
func eachPiece(o *keyspace.Object, f func(at int, piece []byte)) {
	at := 0
	o.Pieces(0, o.Len(), func(s string) bool {
		f(at, unsafe.Slice(unsafe.StringData(s), len(s)))
		at += len(s)
		return true
	})
}

// wordBytes is how many bytes a fold takes at once.
const wordBytes = 8

// fold combines o into out, eight bytes at a time.
func fold(out []byte, o *keyspace.Object, by func(into, from uint64) uint64) {
	eachPiece(o, func(at int, piece []byte) {
		into := out[at : at+len(piece)]
		for len(piece) >= wordBytes {
			binary.LittleEndian.PutUint64(into, by(binary.LittleEndian.Uint64(into), binary.LittleEndian.Uint64(piece)))
			into, piece = into[wordBytes:], piece[wordBytes:]
		}
		for i, c := range piece {
			into[i] = byte(by(uint64(into[i]), uint64(c)))
		}
	})
}

func andBits(into, from uint64) uint64    { return into & from }
func orBits(into, from uint64) uint64     { return into | from }
func xorBits(into, from uint64) uint64    { return into ^ from }
func andNotBits(into, from uint64) uint64 { return into &^ from }

func foldAnd(out []byte, sources []*keyspace.Object) {
	fold(out, sources[0], orBits)
	for _, o := range sources[1:] {
		fold(out, o, andBits)
		clear(out[o.Len():])
	}
}

func foldOr(out []byte, sources []*keyspace.Object) {
	for _, o := range sources {
		fold(out, o, orBits)
	}
}

func foldXor(out []byte, sources []*keyspace.Object) {
	for _, o := range sources {
		fold(out, o, xorBits)
	}
}

func foldNot(out []byte, sources []*keyspace.Object) {
	fold(out, sources[0], func(_, from uint64) uint64 { return ^from })
}

// foldDiff keeps what is set in the first and in no other.
func foldDiff(out []byte, sources []*keyspace.Object) {
	fold(out, sources[0], orBits)
	for _, o := range sources[1:] {
		fold(out, o, andNotBits)
	}
}

// foldDiff1 keeps what is set in another and not in the first.
func foldDiff1(out []byte, sources []*keyspace.Object) {
	foldOr(out, sources[1:])
	fold(out, sources[0], andNotBits)
}

// foldAndOr keeps what is set in the first and in another.
func foldAndOr(out []byte, sources []*keyspace.Object) {
	foldOr(out, sources[1:])
	fold(out, sources[0], andBits)
	clear(out[sources[0].Len():])
}

// foldOne keeps what is set in exactly one.
func foldOne(out []byte, sources []*keyspace.Object) {
	twice := make([]byte, len(out))
	for _, o := range sources {
		eachPiece(o, func(at int, piece []byte) {
			for i, c := range piece {
				twice[at+i] |= out[at+i] & c
				out[at+i] |= c
			}
		})
	}
	for i := range out {
		out[i] &^= twice[i]
	}
}
