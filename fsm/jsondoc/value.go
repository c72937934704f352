package jsondoc

// MaxDepth is the greatest depth of nested arrays and objects.
const MaxDepth = 128

// Kind is the type of a value as JSON has it, with integers told from other numbers.
type Kind uint8

// The kinds, in the order of their snapshot codes, which never change.
const (
	KindNull Kind = iota
	KindBool
	KindInteger
	KindNumber
	KindString
	KindArray
	KindObject
)

// String is the name that JSON.TYPE answers.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}[k]
}

// Value is a JSON value: Null, Bool, Int, Uint, Double, String, *Array or *Object. All but
// the containers are immutable; containers change through a Tree only.
type Value interface {
	Kind() Kind
	// Size is the logical size in bytes: one arithmetic on every node, close to what a
	// process needs.
	Size() int64
}

// Null is the value null.
type Null struct{}

// Bool is true or false.
type Bool bool

// Int is an integer of 64 bits.
type Int int64

// Uint is an integer above the greatest Int, of 64 bits without sign.
type Uint uint64

// Double is a number that was written with a point or an exponent, or that no integer of
// 64 bits can hold. It is finite.
type Double float64

// String is a string of valid UTF-8.
type String string

// Kind is KindNull.
func (Null) Kind() Kind { return KindNull }

// Kind is KindBool.
func (Bool) Kind() Kind { return KindBool }

// Kind is KindInteger.
func (Int) Kind() Kind { return KindInteger }

// Kind is KindInteger.
func (Uint) Kind() Kind { return KindInteger }

// Kind is KindNumber.
func (Double) Kind() Kind { return KindNumber }

// Kind is KindString.
func (String) Kind() Kind { return KindString }

// Kind is KindArray.
func (*Array) Kind() Kind { return KindArray }

// Kind is KindObject.
func (*Object) Kind() Kind { return KindObject }

// The logical sizes in bytes: of the place of a value, of a number's or a string's own
// cell, of an empty container, and of a member's key.
const (
	placeCost     = 16
	numberCost    = 8
	stringCost    = 16
	containerCost = 64
	keyCost       = 16
)

// Size is that of a place.
func (Null) Size() int64 { return placeCost }

// Size is that of a place.
func (Bool) Size() int64 { return placeCost }

// Size is that of a number.
func (Int) Size() int64 { return placeCost + numberCost }

// Size is that of a number.
func (Uint) Size() int64 { return placeCost + numberCost }

// Size is that of a number.
func (Double) Size() int64 { return placeCost + numberCost }

// Size grows with the length in bytes.
func (s String) Size() int64 { return placeCost + stringCost + int64(len(s)) }

// Size is that of the array and everything in it.
func (a *Array) Size() int64 { return a.size }

// Size is that of the object and everything in it.
func (o *Object) Size() int64 { return o.size }

// Depth returns the depth of nested containers in v, v included: 0 for a scalar.
func Depth(v Value) (depth int) {
	switch v := v.(type) {
	case *Array:
		v.All(func(_ int, e Value) bool { depth = max(depth, Depth(e)); return true })
		return depth + 1
	case *Object:
		v.All(func(_ string, e Value) bool { depth = max(depth, Depth(e)); return true })
		return depth + 1
	}
	return 0
}

// isContainer reports whether v is an array or an object.
func isContainer(v Value) bool { return v.Kind() >= KindArray }

// float is a number as a double; ok is false for all that is no number.
func float(v Value) (f float64, ok bool) {
	switch v := v.(type) {
	case Int:
		return float64(v), true
	case Uint:
		return float64(v), true
	case Double:
		return float64(v), true
	}
	return 0, false
}
