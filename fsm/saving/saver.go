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

	w wire.Writer // of the record under way; the next one uses its room again
}

// Put emits one record; it is false after a failure.
func Put[Kind ~byte](o *Saver, k Kind, write func(*wire.Writer)) bool {
	if o.Err != nil {
		return false
	}
	write(o.begin(byte(k)))
	return o.end()
}

// Each emits a record for every entry of a tree, in its order.
func Each[Kind ~byte, K, V any](o *Saver, k Kind, t *cow.BTree[K, V], write func(K, V, *wire.Writer)) {
	if o.Err != nil {
		return
	}
	t.All(func(key K, v V) bool {
		write(key, v, o.begin(byte(k)))
		return o.end()
	})
}

// begin returns the writer of the next record.
func (s *Saver) begin(kind byte) *wire.Writer {
	s.w = wire.Writer{B: append(s.w.B[:0], kind), Digests: s.Digests, References: s.References}
	return &s.w
}

// end emits the record that was begun.
func (s *Saver) end() bool {
	s.Err = s.Emit(s.w.B)
	return s.Err == nil
}
