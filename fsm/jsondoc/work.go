package jsondoc

import "errors"

// ErrWork says that a path would look at more values than one command may.
var ErrWork = errors.New("path looks at too many values")

// MaxWork is the largest number of values that one command may visit: some hundred milliseconds, as
// setting a document of 10 MiB takes.
const MaxWork = 5_000_000

// Work holds the rest of that number. The same command spends the same on every node.
type Work struct{ left int }

// How much of a regular expression's program, times the bytes it is held against, counts as one value looked at: about
// 100 ns.
const programStep = 16

// NewWork is the work of one command.
func NewWork() *Work { return NewWorkOf(MaxWork) }

// NewWorkOf is work that may look at n values.
func NewWorkOf(n int) *Work { return &Work{n} }

// Left returns the number of values that may still be visited, negative once there were too many.
func (w *Work) Left() int { return w.left }

// Spend takes n values off and reports whether the command may go on.
func (w *Work) Spend(n int) bool {
	if w.left < n {
		w.left = -1
		return false
	}
	w.left -= n
	return true
}

// parseStep is the cost of reading and compiling a byte of a regular expression, in visited values.
const parseStep = 4

// spendParse is Spend for a regular expression of n bytes that is about to be read.
func (w *Work) spendParse(n int) bool { return w.Spend(parseStep * min(n, MaxProgram)) }

// Err is ErrWork once there was too much.
func (w *Work) Err() error {
	if w.left < 0 {
		return ErrWork
	}
	return nil
}
