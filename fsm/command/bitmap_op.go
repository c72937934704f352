package command

import (
	"trireme/fsm/keyspace"
	"trireme/fsm/reply"
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

// eachByte calls f for every byte of o with its place.
func eachByte(o *keyspace.Object, f func(i int, c byte)) {
	at := 0
	o.Pieces(0, o.Len(), func(s string) bool {
		for i := range len(s) {
			f(at+i, s[i])
		}
		at += len(s)
		return true
	})
}

func foldAnd(out []byte, sources []*keyspace.Object) {
	eachByte(sources[0], func(i int, c byte) { out[i] = c })
	for _, o := range sources[1:] {
		eachByte(o, func(i int, c byte) { out[i] &= c })
		clear(out[o.Len():])
	}
}

func foldOr(out []byte, sources []*keyspace.Object) {
	for _, o := range sources {
		eachByte(o, func(i int, c byte) { out[i] |= c })
	}
}

func foldXor(out []byte, sources []*keyspace.Object) {
	for _, o := range sources {
		eachByte(o, func(i int, c byte) { out[i] ^= c })
	}
}

func foldNot(out []byte, sources []*keyspace.Object) {
	eachByte(sources[0], func(i int, c byte) { out[i] = ^c })
}

// foldDiff keeps what is set in the first and in no other.
func foldDiff(out []byte, sources []*keyspace.Object) {
	eachByte(sources[0], func(i int, c byte) { out[i] = c })
	for _, o := range sources[1:] {
		eachByte(o, func(i int, c byte) { out[i] &^= c })
	}
}

// foldDiff1 keeps what is set in another and not in the first.
func foldDiff1(out []byte, sources []*keyspace.Object) {
	foldOr(out, sources[1:])
	eachByte(sources[0], func(i int, c byte) { out[i] &^= c })
}

// foldAndOr keeps what is set in the first and in another.
func foldAndOr(out []byte, sources []*keyspace.Object) {
	foldOr(out, sources[1:])
	eachByte(sources[0], func(i int, c byte) { out[i] &= c })
	clear(out[sources[0].Len():])
}

// foldOne keeps what is set in exactly one.
func foldOne(out []byte, sources []*keyspace.Object) {
	twice := make([]byte, len(out))
	for _, o := range sources {
		eachByte(o, func(i int, c byte) {
			twice[i] |= out[i] & c
			out[i] |= c
		})
	}
	for i := range out {
		out[i] &^= twice[i]
	}
}
