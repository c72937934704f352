package reply

import "math"

// Kind is the type of a Value.
type Kind uint8

// The kinds, in RESP3's terms. NilArray is RESP2's null array; in every other
// form it equals Nil.
const (
	KindNil Kind = iota
	KindNilArray
	KindStatus
	KindBulk
	KindError
	KindInt
	KindArray
	KindMap
	KindSet
	KindDouble
	KindBool
	KindVerbatim
	KindBigNumber
	KindPush
	KindPairs
	KindKeyed
	KindForms
)

// Value is one reply. The zero Value is Nil. Values are immutable: texts may be
// shared with the keyspace.
type Value struct {
	kind  Kind
	num   int64
	text  string
	elems []Value
}

// Nil is the null bulk string.
func Nil() Value { return Value{} }

// NilArray is the null array of RESP2.
func NilArray() Value { return Value{kind: KindNilArray} }

// Status is a simple string such as OK.
func Status(s string) Value { return Value{kind: KindStatus, text: s} }

// OK is the status OK.
func OK() Value { return Value{kind: KindStatus, text: "OK"} }

// Bulk is a binary-safe string.
func Bulk(s string) Value { return Value{kind: KindBulk, text: s} }

// Error is an error; text begins with its class, such as ERR.
func Error(text string) Value { return Value{kind: KindError, text: text} }

// Int is a 64-bit integer.
func Int(n int64) Value { return Value{kind: KindInt, num: n} }

// Array is a list of values.
func Array(v ...Value) Value { return Value{kind: KindArray, elems: v} }

// Map is a list of alternating keys and values, a map in RESP3 and flat elsewhere.
func Map(v ...Value) Value { return Value{kind: KindMap, elems: v} }

// Set is an unordered list, an array outside RESP3.
func Set(v ...Value) Value { return Value{kind: KindSet, elems: v} }

// Pairs is a list of pairs, first and second alternating: an array of arrays of two in
// RESP3, flat elsewhere.
func Pairs(v ...Value) Value { return Value{kind: KindPairs, elems: v} }

// Keyed is a list of alternating keys and values: a map in RESP3, an array of arrays of
// two elsewhere, as XREAD answers.
func Keyed(v ...Value) Value { return Value{kind: KindKeyed, elems: v} }

// Forms is a reply that the two protocols show in different forms, as RedisJSON's: resp3 to clients and scripts of
// RESP3, resp2 everywhere else. Both are no errors.
func Forms(resp2, resp3 Value) Value { return Value{kind: KindForms, elems: []Value{resp2, resp3}} }

// Push is an out-of-band message of RESP3, an array elsewhere.
func Push(v ...Value) Value { return Value{kind: KindPush, elems: v} }

// Double is a floating-point number; text is its printed form, for all encodings but the
// double of RESP3.
func Double(f float64, text string) Value {
	return Value{kind: KindDouble, num: int64(math.Float64bits(f)), text: text}
}

// Bool is a truth value: 1 or 0 outside RESP3.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, num: 1}
	}
	return Value{kind: KindBool}
}

// Verbatim is text of the format txt, a bulk string outside RESP3.
func Verbatim(s string) Value { return Value{kind: KindVerbatim, text: s} }

// BigNumber is an integer beyond 64 bits in decimal, a bulk string outside RESP3.
func BigNumber(s string) Value { return Value{kind: KindBigNumber, text: s} }

// Kind is the type of v.
func (v Value) Kind() Kind { return v.kind }

// Int is the number of an Int or Bool value.
func (v Value) Int() int64 { return v.num }

// Float is the number of a Double value.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.num)) }

// Text is the string of a Status, Bulk, Error, Double, Verbatim or BigNumber value.
func (v Value) Text() string { return v.text }

// Elems are the elements of an Array, Map, Set, Push, Pairs or Keyed value, those of a
// map, of pairs and of a keyed list alternating, or both values of Forms. They must not be changed.
func (v Value) Elems() []Value { return v.elems }

// RESP2 is v as it stands outside RESP3: a Keyed value is an array of arrays of two there, and of Forms the first
// counts. Any other value is itself. What v holds is left as it is.
func (v Value) RESP2() Value {
	switch v.kind {
	case KindForms:
		return v.elems[0].RESP2()
	case KindKeyed:
		rows := make([]Value, len(v.elems)/2)
		for i := range rows {
			rows[i] = Array(v.elems[2*i : 2*i+2]...)
		}
		return Array(rows...)
	}
	return v
}

// RESP3 returns v for a client of RESP3: of Forms the second. Any other value is itself.
func (v Value) RESP3() Value {
	if v.kind == KindForms {
		return v.elems[1].RESP3()
	}
	return v
}

// IsError reports whether v is an error.
func (v Value) IsError() bool { return v.kind == KindError }

// IsNil reports whether v is one of the two nulls.
func (v Value) IsNil() bool { return v.kind == KindNil || v.kind == KindNilArray }

// Equal reports whether v and o are the same reply, type included.
func (v Value) Equal(o Value) bool {
	if v.kind != o.kind || v.num != o.num || v.text != o.text || len(v.elems) != len(o.elems) {
		return false
	}
	for i := range v.elems {
		if !v.elems[i].Equal(o.elems[i]) {
			return false
		}
	}
	return true
}
