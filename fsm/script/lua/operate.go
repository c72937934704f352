package lua

import (
	"math"
	"strings"
)

// metatable returns the metatable of a value, nil if it has none.
func (st *State) metatable(v Value) *Table {
	switch o := v.ref.(type) {
	case *Table:
		return o.meta
	case *Str:
		return st.strings
	}
	return nil
}

func (st *State) metamethod(v Value, event *Str) Value {
	if m := st.metatable(v); m != nil {
		return m.getStr(event)
	}
	return Nil
}

// The names of metamethods, whose hashes are known.
var (
	metaIndex, metaNewIndex, metaCall = hashed("__index"), hashed("__newindex"), hashed("__call")
	metaEq, metaLt, metaLe            = hashed("__eq"), hashed("__lt"), hashed("__le")
	metaConcat, metaUnm, metaHidden   = hashed("__concat"), hashed("__unm"), hashed("__metatable")
	metaToString                      = hashed("__tostring")
)

// hashed is a string that any number of states may use: its hash is known.
func hashed(s string) *Str {
	t := &Str{s: s}
	t.hash()
	return t
}

// callMeta calls a metamethod from the program, for one result.
func (st *State) callMeta(handler Value, args ...Value) Value {
	if st.nested++; st.nested >= maxNested {
		st.top().fail("C stack overflow")
	}
	st.call(handler, args)
	st.nested--
	return st.result()
}

// maxLoop bounds chains of __index and __newindex.
const maxLoop = 100

// index is o[k] with metamethods.
func (f *frame) index(o, k Value, s *site) Value {
	for hops := range maxLoop {
		if hops > 0 {
			f.vm.Step(metaHopCost)
		}
		var handler Value
		if t, ok := o.ref.(*Table); ok {
			if v := t.Get(k); !v.IsNil() || t.meta == nil {
				return v
			}
			if handler = t.meta.getStr(metaIndex); handler.IsNil() {
				return Nil
			}
		} else if handler = f.vm.metamethod(o, metaIndex); handler.IsNil() {
			f.typeError(o, s, "index")
		}
		if handler.IsFunction() {
			return f.vm.callMeta(handler, o, k)
		}
		o, s = handler, nil
	}
	f.fail("loop in gettable")
	return Nil
}

// setIndex is o[k] = v with metamethods.
func (f *frame) setIndex(o, k, v Value, s *site) {
	for hops := range maxLoop {
		if hops > 0 {
			f.vm.Step(metaHopCost)
		}
		var handler Value
		if t, ok := o.ref.(*Table); ok {
			if t.locked {
				f.fail("Attempt to modify a readonly table")
			}
			if t.meta == nil || !t.Get(k).IsNil() {
				f.rawSet(t, k, v)
				return
			}
			if handler = t.meta.getStr(metaNewIndex); handler.IsNil() {
				f.rawSet(t, k, v)
				return
			}
		} else if handler = f.vm.metamethod(o, metaNewIndex); handler.IsNil() {
			f.typeError(o, s, "index")
		}
		if handler.IsFunction() {
			f.vm.callMeta(handler, o, k, v)
			return
		}
		o, s = handler, nil
	}
	f.fail("loop in settable")
}

// rawSet stores a value under any key.
func (f *frame) rawSet(t *Table, k, v Value) {
	switch {
	case k.IsNil():
		f.fail("table index is nil")
	case k.n != k.n:
		f.fail("table index is NaN")
	}
	t.Set(k, v)
}

// sides name the two operands of an operation in errors.
type sides struct{ l, r *site }

// arithmetic is an operator on operands that are not both numbers.
func (f *frame) arithmetic(op token, a, b Value, s *sides) Value {
	x, okX := f.vm.ToNumber(a)
	y, okY := f.vm.ToNumber(b)
	if okX && okY {
		return Number(calculate(op, x, y))
	}
	event := arithmeticEvents[op]
	handler := f.vm.metamethod(a, event)
	if handler.IsNil() {
		handler = f.vm.metamethod(b, event)
	}
	if handler.IsNil() {
		if !okX {
			f.site = s.l
			f.typeError(a, s.l, "perform arithmetic on")
		}
		f.site = s.r
		f.typeError(b, s.r, "perform arithmetic on")
	}
	f.site = s.l
	return f.vm.callMeta(handler, a, b)
}

var arithmeticEvents = map[token]*Str{
	'+': hashed("__add"), '-': hashed("__sub"), '*': hashed("__mul"), '/': hashed("__div"), '%': hashed("__mod"), '^': hashed("__pow"),
}

func calculate(op token, x, y float64) float64 {
	switch op {
	case '+':
		return x + y
	case '-':
		return x - y
	case '*':
		return x * y
	case '/':
		return divide(x, y)
	case '%':
		return modulo(x, y)
	}
	return power(x, y)
}

// divide is a quotient. What is not a number has the sign that processors of the x86
// family give it, so that it prints alike everywhere.
func divide(x, y float64) float64 {
	if q := x / y; q == q || x != x || y != y {
		return q
	}
	return negativeNaN
}

var negativeNaN = math.Float64frombits(0xfff8000000000000)

// modulo has the sign of the divisor.
func modulo(x, y float64) float64 {
	if x >= 0 && y > 0 && x < 1<<51 && y < 1<<51 {
		if i, j := int64(x), int64(y); float64(i) == x && float64(j) == y {
			return float64(i % j)
		}
	}
	if y == 0 || math.IsInf(x, 0) {
		return negativeNaN
	}
	return x - float64(math.Floor(x/y)*y)
}

// negate is -v of what is no number.
func (f *frame) negate(v Value, s *site) Value {
	if n, ok := f.vm.ToNumber(v); ok {
		return Number(-n)
	}
	handler := f.vm.metamethod(v, metaUnm)
	f.site = s
	if handler.IsNil() {
		f.typeError(v, s, "perform arithmetic on")
	}
	return f.vm.callMeta(handler, v, v)
}

// length is #v.
func (f *frame) length(v Value, s *site) Value {
	switch o := v.ref.(type) {
	case *Table:
		return Int(o.Len())
	case *Str:
		return Int(len(o.s))
	}
	f.site = s
	f.typeError(v, s, "get length of")
	return Nil
}

// concat joins values from the right, as many at once as are strings or numbers.
func (f *frame) concat(values []Value, s []*site) Value {
	vm := f.vm
	for n := len(values); n > 1; n = len(values) {
		a, b := values[n-2], values[n-1]
		okA := isText(a)
		if !okA || !isText(b) {
			handler := vm.metamethod(a, metaConcat)
			if handler.IsNil() {
				handler = vm.metamethod(b, metaConcat)
			}
			f.site = s[n-2]
			if handler.IsNil() {
				bad, at := b, n-1
				if !okA {
					bad, at = a, n-2
				}
				f.typeError(bad, s[at], "concatenate")
			}
			values[n-2] = vm.callMeta(handler, a, b)
			values = values[:n-1]
			continue
		}
		first := n - 2
		for first > 0 && isText(values[first-1]) {
			first--
		}
		values[first] = vm.join(values[first:])
		values = values[:first+1]
	}
	return values[0]
}

// join joins strings and numbers.
func (st *State) join(values []Value) Value {
	size := 0
	for _, v := range values {
		if s, ok := v.ref.(*Str); ok {
			size += len(s.s)
		} else {
			size += 24
		}
	}
	st.Alloc(sizeString + size)
	var b strings.Builder
	b.Grow(size)
	for _, v := range values {
		if s, ok := v.ref.(*Str); ok {
			b.WriteString(s.s)
		} else {
			b.WriteString(st.format(v.n))
		}
	}
	return Value{ref: &Str{s: b.String()}}
}

// equal is a == b with metamethods.
func (f *frame) equal(a, b Value) bool {
	if f.vm.rawEqual(a, b) {
		return true
	}
	x, ok := a.ref.(*Table)
	y, okY := b.ref.(*Table)
	if !ok || !okY || x.meta == nil || y.meta == nil {
		return false
	}
	handler := x.meta.getStr(metaEq)
	if handler.IsNil() || !f.vm.rawEqual(handler, y.meta.getStr(metaEq)) {
		return false
	}
	return f.vm.callMeta(handler, a, b).Truth()
}

// less is a < b of values that are not both numbers.
func (f *frame) less(a, b Value) bool {
	if x, y, ok := bothText(a, b); ok {
		return f.vm.lessText(x, y)
	}
	if x, ok := a.Number(); ok {
		if y, ok := b.Number(); ok {
			return x < y
		}
	}
	if less, ok := f.order(a, b, metaLt); ok {
		return less
	}
	f.compareError(a, b)
	return false
}

// lessEqual is a <= b of values that are not both numbers.
func (f *frame) lessEqual(a, b Value) bool {
	if x, y, ok := bothText(a, b); ok {
		return !f.vm.lessText(y, x)
	}
	if x, ok := a.Number(); ok {
		if y, ok := b.Number(); ok {
			return x <= y
		}
	}
	if r, ok := f.order(a, b, metaLe); ok {
		return r
	}
	if r, ok := f.order(b, a, metaLt); ok {
		return !r
	}
	f.compareError(a, b)
	return false
}

func bothText(a, b Value) (x, y string, ok bool) {
	s, ok := a.ref.(*Str)
	t, okB := b.ref.(*Str)
	if !ok || !okB {
		return "", "", false
	}
	return s.s, t.s, true
}

// order asks the metamethod of an order, which both must share.
func (f *frame) order(a, b Value, event *Str) (result, ok bool) {
	if a.Type() != b.Type() {
		f.compareError(a, b)
	}
	handler := f.vm.metamethod(a, event)
	if handler.IsNil() || !f.vm.rawEqual(handler, f.vm.metamethod(b, event)) {
		return false, false
	}
	return f.vm.callMeta(handler, a, b).Truth(), true
}

func (f *frame) compareError(a, b Value) {
	if x, y := a.Type(), b.Type(); x != y {
		f.fail("attempt to compare " + x + " with " + y)
	} else {
		f.fail("attempt to compare two " + x + " values")
	}
}
