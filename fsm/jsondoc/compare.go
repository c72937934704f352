package jsondoc

import "cmp"

// Equal reports whether a and b are the same value: numbers by what they are worth, objects
// whatever the order of their members. Without work left it is false.
func Equal(a, b Value, w *Work) bool {
	if !w.Spend(1) {
		return false
	}
	switch x := a.(type) {
	case *Array:
		y, ok := b.(*Array)
		return ok && equalArrays(x, y, w)
	case *Object:
		y, ok := b.(*Object)
		return ok && equalObjects(x, y, w)
	}
	order, ok := compare(a, b)
	return ok && order == 0
}

func equalArrays(x, y *Array, w *Work) bool {
	same := x.Len() == y.Len()
	if same {
		x.All(func(i int, v Value) bool {
			same = Equal(v, y.At(i), w)
			return same
		})
	}
	return same
}

func equalObjects(x, y *Object, w *Work) bool {
	same := x.Len() == y.Len()
	if same {
		x.All(func(key string, v Value) bool {
			other, ok := y.Get(key)
			same = ok && Equal(v, other, w)
			return same
		})
	}
	return same
}

// compare orders two scalars of one type, all numbers being of one; it is not ok for
// others. Truth values and nulls have no order but equality.
func compare(a, b Value) (order int, ok bool) {
	switch x := a.(type) {
	case Null:
		_, ok = b.(Null)
		return 0, ok
	case Bool:
		y, ok := b.(Bool)
		if ok && x != y {
			return 1, true
		}
		return 0, ok
	case String:
		y, ok := b.(String)
		return cmp.Compare(x, y), ok
	}
	return compareNumbers(a, b)
}

func compareNumbers(a, b Value) (order int, ok bool) {
	switch x := a.(type) {
	case Int:
		switch y := b.(type) {
		case Int:
			return cmp.Compare(x, y), true
		case Uint:
			return -1, true
		}
	case Uint:
		switch y := b.(type) {
		case Int:
			return 1, true
		case Uint:
			return cmp.Compare(x, y), true
		}
	}
	x, xok := float(a)
	y, yok := float(b)
	return cmp.Compare(x, y), xok && yok
}
