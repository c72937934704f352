package reply

import (
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// maxDepth bounds nesting in Decode: no command nests deeper, JSON.RESP included.
const maxDepth = 256

// ErrDecode says that bytes are not a Value.
var ErrDecode = errors.New("reply: malformed value")

// Append writes v in the lossless form that travels between nodes.
func Append(w *wire.Writer, v Value) {
	w.B = append(w.B, byte(v.kind))
	switch v.kind {
	case KindNil, KindNilArray:
	case KindInt, KindBool:
		w.Varint(v.num)
	case KindDouble:
		w.Varint(v.num)
		w.String(v.text)
	case KindArray, KindMap, KindSet, KindPush, KindPairs, KindKeyed, KindForms:
		w.Uvarint(uint64(len(v.elems)))
		for _, e := range v.elems {
			Append(w, e)
		}
	default:
		w.String(v.text)
	}
}

// Decode reads what Append wrote.
func Decode(r *wire.Reader) (Value, error) { return decode(r, 0) }

func decode(r *wire.Reader, depth int) (Value, error) {
	if depth > maxDepth || r.Len() == 0 {
		return Value{}, fmt.Errorf("%w: depth %d, %d bytes left", ErrDecode, depth, r.Len())
	}
	v := Value{kind: Kind(r.Fixed(1)[0])}
	switch v.kind {
	case KindNil, KindNilArray:
	case KindInt, KindBool:
		v.num = r.Varint()
	case KindDouble:
		v.num = r.Varint()
		v.text = r.String()
	case KindArray, KindMap, KindSet, KindPush, KindPairs, KindKeyed, KindForms:
		n := r.Count(1)
		if v.kind == KindForms && n != 2 {
			return Value{}, fmt.Errorf("%w: %d forms", ErrDecode, n)
		}
		v.elems = make([]Value, 0, min(n, 1024))
		for range n {
			e, err := decode(r, depth+1)
			if err != nil {
				return Value{}, err
			}
			v.elems = append(v.elems, e)
		}
	case KindStatus, KindBulk, KindError, KindVerbatim, KindBigNumber:
		v.text = r.String()
	default:
		return Value{}, fmt.Errorf("%w: kind %d", ErrDecode, v.kind)
	}
	return v, r.Err()
}
