package jsondoc

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// codeUint marks a Uint in a snapshot, where the other values have their kind.
const codeUint = byte(KindObject) + 1

// Encode writes v for a snapshot: equal documents give equal bytes. Codes and their order
// never change; new ones are appended.
func Encode(w *wire.Writer, v Value) {
	if n, ok := v.(Uint); ok {
		w.B = append(w.B, codeUint)
		w.Uvarint(uint64(n))
		return
	}
	w.B = append(w.B, byte(v.Kind()))
	switch v := v.(type) {
	case Bool:
		w.Bool(bool(v))
	case Int:
		w.Varint(int64(v))
	case Double:
		w.B = binary.LittleEndian.AppendUint64(w.B, math.Float64bits(float64(v)))
	case String:
		w.String(string(v))
	case *Array:
		w.Uvarint(uint64(v.Len()))
		v.All(func(_ int, e Value) bool {
			Encode(w, e)
			return true
		})
	case *Object:
		w.Uvarint(uint64(v.Len()))
		v.All(func(key string, e Value) bool {
			w.String(key)
			Encode(w, e)
			return true
		})
	}
}

// Decode reads what Encode wrote; it is not ok if nothing that Encode writes looks so.
// The result does not alias the input.
func Decode(r *wire.Reader) (v Value, ok bool) { return decode(r, 0) }

func decode(r *wire.Reader, depth int) (Value, bool) {
	if r.Len() == 0 || r.Err() != nil {
		return nil, false
	}
	var v Value
	code := r.Fixed(1)[0]
	switch {
	case code != byte(KindNull) && r.Len() == 0: // what is cut off would read as zero
		return nil, false
	case code == byte(KindNull):
		v = Null{}
	case code == byte(KindBool):
		v = Bool(r.Bool())
	case code == byte(KindInteger):
		v = Int(r.Varint())
	case code == byte(KindNumber):
		f := math.Float64frombits(binary.LittleEndian.Uint64(r.Fixed(8)))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, false
		}
		v = Double(f)
	case code == byte(KindString):
		s := r.String()
		if !utf8.ValidString(s) {
			return nil, false
		}
		v = String(s)
	case code == byte(KindArray) && depth < MaxDepth:
		return decodeArray(r, depth+1)
	case code == byte(KindObject) && depth < MaxDepth:
		return decodeObject(r, depth+1)
	case code == codeUint:
		n := r.Uvarint()
		if n <= math.MaxInt64 {
			return nil, false
		}
		v = Uint(n)
	default:
		return nil, false
	}
	return v, r.Err() == nil
}

func decodeArray(r *wire.Reader, depth int) (Value, bool) {
	var values []Value
	for range r.Count(1) {
		v, ok := decode(r, depth)
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return NewArray(values...), r.Err() == nil
}

func decodeObject(r *wire.Reader, depth int) (Value, bool) {
	o := NewObject()
	n := r.Count(2)
	for range n {
		key := r.String()
		v, ok := decode(r, depth)
		if !ok || !utf8.ValidString(key) {
			return nil, false
		}
		o.put(key, v)
	}
	return o, r.Err() == nil && o.Len() == n
}
