package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

var (
	errFieldType     = reply.Error("ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.")
	errFieldOverflow = reply.Error("ERR Invalid OVERFLOW type specified")
	errFieldGetOnly  = reply.Error("ERR BITFIELD_RO only supports the GET subcommand")
)

// fieldOp is one operation of BITFIELD.
type fieldOp struct {
	kind  fieldKind
	field fieldType
	at    int64 // the first bit
	n     int64 // value or increment
	over  overflow
}

type fieldKind uint8

const (
	fieldGet fieldKind = iota
	fieldSet
	fieldIncr
)

// readFieldOps reads the operations; each OVERFLOW holds for those behind it.
func readFieldOps(a *Args) (ops []fieldOp) {
	over := wrap
	for a.Left() > 0 && !a.bad {
		op := fieldOp{over: over}
		switch {
		case a.Left() > 2 && a.Word("GET"):
		case a.Left() > 3 && a.Word("SET"):
			op.kind = fieldSet
		case a.Left() > 3 && a.Word("INCRBY"):
			op.kind = fieldIncr
		case a.Left() > 1 && a.Word("OVERFLOW"):
			over = readOverflow(a)
			continue
		default:
			a.Fail(ErrSyntax)
			continue
		}
		op.field = readFieldType(a)
		op.at = a.bitOffset(int64(op.field.width))
		if op.kind != fieldGet {
			op.n = a.Int()
		}
		ops = append(ops, op)
	}
	return ops
}

func readOverflow(a *Args) overflow {
	switch {
	case a.Word("WRAP"):
		return wrap
	case a.Word("SAT"):
		return saturate
	case a.Word("FAIL"):
		return fail
	}
	a.Fail(errFieldOverflow)
	return wrap
}

// readFieldType reads i1 to i64 or u1 to u63.
func readFieldType(a *Args) (f fieldType) {
	word := a.Bytes()
	if len(word) > 0 {
		f.signed = word[0] == 'i'
	}
	if len(word) < 2 || !f.signed && word[0] != 'u' {
		a.Fail(errFieldType)
		return f
	}
	n, ok := ParseInt(word[1:])
	if !ok || n < 1 || n > 64 || n == 64 && !f.signed {
		a.Fail(errFieldType)
		return f
	}
	f.width = int(n)
	return f
}

// onlyGets reports whether the words of BITFIELD are operations that write nothing. As
// in Redis, words that mean nothing count as a write.
func onlyGets(argv [][]byte) bool {
	for i := 2; i < len(argv); i++ {
		switch left := len(argv) - i - 1; {
		case EqualFold(argv[i], "GET") && left >= 2:
			i += 2
		case EqualFold(argv[i], "OVERFLOW") && left >= 1:
			i++
		default: // a write, or a mistake, which counts as one
			return false
		}
	}
	return true
}

func bitField(tx *Tx, a *Args) reply.Value { return tx.bitField(a, false) }

func bitFieldRO(tx *Tx, a *Args) reply.Value { return tx.bitField(a, true) }

func (tx *Tx) bitField(a *Args, readOnly bool) reply.Value {
	key := a.Bytes()
	ops := readFieldOps(a)
	if err, ok := a.Done(); !ok {
		return err
	}
	length := 0 // that the string must have for the writes
	for _, op := range ops {
		if op.kind != fieldGet {
			length = max(length, int((op.at+int64(op.field.width)+7)/8))
		}
	}
	if readOnly && length > 0 {
		return errFieldGetOnly
	}
	o, ok := tx.findText(key)
	if !ok {
		return ErrWrongType
	}
	if o == nil && length == 0 && !readOnly {
		tx.missed(key)
	}
	grown, changed := length > o.Len(), false
	if grown { // it grows even if every write fails
		tx.DB.WriteAt(tx.Env, key, o, length, nil)
		o = tx.DB.Find(tx.Env, key)
	}
	values := make([]reply.Value, len(ops))
	for i, op := range ops {
		before := o
		values[i], o = tx.runField(key, o, op)
		if op.kind != fieldGet && !values[i].IsNil() && (grown || o != before) {
			changed = true
			tx.changes++
		}
	}
	if changed {
		tx.Event(StringEvent, "setbit", key)
	}
	return reply.Array(values...)
}

// runField runs one operation and returns its reply and the string afterwards.
func (tx *Tx) runField(key []byte, o *keyspace.Object, op fieldOp) (reply.Value, *keyspace.Object) {
	old := op.field.value(readBits(o, op.at, op.field.width))
	var fresh int64
	over := false
	switch op.kind {
	case fieldGet:
		return reply.Int(old), o
	case fieldSet:
		fresh, over = op.field.add(op.n, 0, op.over)
	case fieldIncr:
		fresh, over = op.field.add(old, op.n, op.over)
	}
	if over && op.over == fail {
		return reply.Nil(), o
	}
	if fresh != old {
		tx.writeBits(key, o, op.at, op.field.width, uint64(fresh))
		o = tx.DB.Find(tx.Env, key)
	}
	if op.kind == fieldSet {
		return reply.Int(old), o
	}
	return reply.Int(fresh), o
}

// readBits are up to 64 bits from a place on; what lies behind the string is 0.
func readBits(o *keyspace.Object, at int64, width int) (v uint64) {
	for i := at; i < at+int64(width); {
		c, skip := o.Byte(int(i/8)), i%8
		take := min(8-skip, at+int64(width)-i)
		part := c << skip >> (8 - take)
		v = v<<take | uint64(part)
		i += take
	}
	return v
}

// writeBits puts the lowest bits of v at a place within the string.
func (tx *Tx) writeBits(key []byte, o *keyspace.Object, at int64, width int, v uint64) {
	var bytes []byte
	first, end := at/8, at+int64(width)
	for i := at; i < end; {
		skip := i % 8
		take := min(8-skip, end-i)
		part := byte(v>>(end-i-take)) & byte(1<<take-1)
		shift := 8 - skip - take
		bytes = append(bytes, o.Byte(int(i/8))&^(byte(1<<take-1)<<shift)|part<<shift)
		i += take
	}
	tx.DB.WriteAt(tx.Env, key, o, int(first), bytes)
}
