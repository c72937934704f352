package saving

import (
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Saver hands records to Emit until that fails.
type Saver struct {
	// Emit takes a record, which is valid until it returns.
	Emit func(record []byte) error
	// Err is Emit's first error.
	Err error
	// Digests is that of the writers that records are written to.
	Digests bool
	// References are those of the writers, too.
	References *wire.References

	room []byte // of the record before
}

// Put emits one record; it is false after a failure.
func Put[Kind ~byte](o *Saver, k Kind, write func(*wire.Writer)) bool {
	if o.Err != nil {
		return false
	}
	w := wire.Writer{B: append(o.room[:0], byte(k)), Digests: o.Digests, References: o.References}
	write(&w)
	o.Err, o.room = o.Emit(w.B), w.B
	return o.Err == nil
}

// Each emits a record for every entry of a tree, in its order.
func Each[Kind ~byte, K, V any](o *Saver, k Kind, t *cow.BTree[K, V], write func(K, V, *wire.Writer)) {
	if o.Err != nil {
		return
	}
	t.All(func(key K, v V) bool { return Put(o, k, func(w *wire.Writer) { write(key, v, w) }) })
}
