package redis

// Words are the arguments of the commands of one request. All of them share the
// request's own bytes and one buffer, so that an argument costs no allocation; they are
// valid until Reset. The zero value is ready.
type Words struct {
	text []byte   // decoded bytes of the path and the query
	flat [][]byte // every argument, in order
	ends []int    // where each row ends in flat
	rows [][][]byte
}

// kept bounds the memory that an idle Words holds on to.
const (
	keptBytes = 64 << 10
	keptWords = 16 << 10
)

// Reset forgets all arguments, and the memory of an unusually large request.
func (w *Words) Reset() {
	if cap(w.text) > keptBytes {
		w.text = nil
	}
	if cap(w.flat) > keptWords {
		w.flat = nil
	}
	if cap(w.ends) > keptWords {
		w.ends, w.rows = nil, nil
	}
	clear(w.flat)
	clear(w.rows)
	w.text, w.flat, w.ends, w.rows = w.text[:0], w.flat[:0], w.ends[:0], w.rows[:0]
}

// Argv returns the arguments of a single command: everything read so far.
func (w *Words) Argv() [][]byte { return w.flat }

// Append adds one argument, which is not copied.
func (w *Words) Append(arg []byte) { w.flat = append(w.flat, arg) }

// Rows returns the commands of a batch that Batch has read.
func (w *Words) Rows() [][][]byte { return w.rows }

// cut makes the rows from their ends: only now does flat stay where it is.
func (w *Words) cut() {
	start := 0
	for _, end := range w.ends {
		w.rows = append(w.rows, w.flat[start:end:end])
		start = end
	}
}
