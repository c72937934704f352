package fsm

import "github.com/trireme-dev/trireme/fsm/wire"

// lentWords is the largest number of words of a batch that are read into reused memory; a larger batch allocates its own.
const lentWords = 8192

// rowRoom is memory for the rows of the batch that is being applied. A command may keep the bytes of its words, which are those of
// the entry, but not the slices that hold the words: these are empty once the batch is done.
type rowRoom struct {
	words [][]byte
	rows  [][][]byte
	busy  bool // a batch is being applied whose rows are in it
	batch Batch
	codec wire.Codec // reads it
	// used counts the words and rows that may hold something. Only they are cleared, so that a small batch does not pay for
	// the room that a large one has left.
	used struct{ words, rows int }
}

// take is room for n words, none of them there yet, and for m rows. On a nil room, or for too many, it is new.
func (r *rowRoom) take(n, m int) (words [][]byte, rows [][][]byte) {
	if r == nil || max(n, m) > lentWords {
		return make([][]byte, 0, n), make([][][]byte, m)
	}
	if len(r.words) < n {
		r.words = make([][]byte, n)
	}
	if len(r.rows) < m {
		r.rows = make([][][]byte, m)
	}
	r.used.words, r.used.rows = max(r.used.words, n), max(r.used.rows, m)
	return r.words[:0:n], r.rows[:m]
}

// giveBack ends the use of the room. It holds no part of an entry then, which would stay in memory.
func (r *rowRoom) giveBack() {
	if r != nil {
		clear(r.words[:r.used.words])
		clear(r.rows[:r.used.rows])
		r.used.words, r.used.rows, r.busy = 0, 0, false
		r.batch = Batch{}
	}
}
