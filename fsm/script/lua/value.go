package lua

import "strconv"

// Value is a Lua value. The zero Value is nil. Numbers stand in the struct itself, so
// arithmetic needs no allocation.
type Value struct {
	n   float64
	ref any // the type: nothing for nil, a tag for numbers and booleans, else the object
}

type (
	numberTag struct{}
	boolTag   struct{}
)

var (
	numberType = &numberTag{}
	boolType   = &boolTag{}
)

// Nil is Lua's nil.
var Nil = Value{}

// Null is the light userdata NULL, which libraries use as a value that isn't nil.
var Null = Value{ref: &Pointer{}}

// Pointer is a light userdata. Scripts can only compare it.
type Pointer struct{ _ byte }

// Str is a Lua string: bytes and their hash, which orders tables.
type Str struct {
	s      string
	h      uint32
	hashed bool
}

// GoFunc is a function of ours that scripts can call. It returns by State.Return.
type GoFunc func(vm *State, args []Value)

// Function is a GoFunc as a value.
type Function struct {
	run    GoFunc
	name   string
	price  Price
	serial uint32
}

// Closure is a function written in Lua with the variables that it has captured.
type Closure struct {
	proto  *Proto
	up     []*cell
	env    *Table
	serial uint32
}

// cell is a variable that a function has captured.
type cell struct{ v Value }

// Number is the value of a number.
func Number(n float64) Value { return Value{n, numberType} }

// Int is the value of an integer as a double.
func Int(n int) Value { return Value{float64(n), numberType} }

// Bool is the value of a boolean.
func Bool(b bool) Value {
	if b {
		return Value{1, boolType}
	}
	return Value{0, boolType}
}

// String is the value of a string. It costs no steps of a script: see State.String.
func String(s string) Value { return Value{ref: &Str{s: s}} }

// TableValue is the value of a table.
func TableValue(t *Table) Value { return Value{ref: t} }

// IsNil reports whether v is nil.
func (v Value) IsNil() bool { return v.ref == nil }

func (v Value) isNumber() bool {
	_, ok := v.ref.(*numberTag)
	return ok
}

// Number is v as a number, if it is one.
func (v Value) Number() (float64, bool) {
	_, ok := v.ref.(*numberTag)
	return v.n, ok
}

// Text is the bytes of a string, if v is one. Numbers are not converted.
func (v Value) Text() (string, bool) {
	if s, ok := v.ref.(*Str); ok {
		return s.s, true
	}
	return "", false
}

// Table is v as a table, nil if it is none.
func (v Value) Table() *Table {
	t, _ := v.ref.(*Table)
	return t
}

// Bool is v as a boolean and whether it is one.
func (v Value) Bool() (value, ok bool) {
	_, ok = v.ref.(*boolTag)
	return v.n != 0, ok
}

// Truth returns v as a condition: false for nil and false only.
func (v Value) Truth() bool {
	switch v.ref.(type) {
	case nil:
		return false
	case *boolTag:
		return v.n != 0
	}
	return true
}

// IsFunction reports whether v can be called without a metamethod.
func (v Value) IsFunction() bool {
	switch v.ref.(type) {
	case *Closure, *Function:
		return true
	}
	return false
}

// Type is the name of v's type, as type() returns it.
func (v Value) Type() string {
	switch v.ref.(type) {
	case nil:
		return "nil"
	case *numberTag:
		return "number"
	case *boolTag:
		return "boolean"
	case *Str:
		return "string"
	case *Table:
		return "table"
	case *Closure, *Function:
		return "function"
	case *Coroutine:
		return "thread"
	}
	return "userdata"
}

// serial is the number of a table, function or coroutine in its State: what stands in
// for its address.
func (v Value) serial() uint32 {
	switch o := v.ref.(type) {
	case *Table:
		return o.serial
	case *Closure:
		return o.serial
	case *Function:
		return o.serial
	case *Coroutine:
		return o.serial
	}
	return 0
}

// hash is the hash of the string: Lua 5.1's own, which skips bytes of long strings, so
// that tables are walked in the order that Redis walks them.
func (s *Str) hash() uint32 {
	if s.hashed {
		return s.h
	}
	h := uint32(len(s.s))
	step := len(s.s)>>5 + 1
	for i := len(s.s); i >= step; i -= step {
		h ^= h<<5 + h>>2 + uint32(s.s[i-1])
	}
	s.h, s.hashed = h, true
	return h
}

// address returns the text of an object for tostring. A real address would differ between
// nodes, so it is a number that counts objects.
func address(kind string, serial uint32) string {
	text := strconv.FormatUint(uint64(serial)*16, 16)
	return kind + ": 0x" + "000000000000"[:max(0, 12-len(text))] + text
}
