package jsondoc

import "errors"

// ErrWork says that a path would look at more values than one command may.
var ErrWork = errors.New("path looks at too many values")

// MaxWork is how many values one command may look at: some hundred milliseconds, as
// setting a document of 10 MiB takes.
const MaxWork = 5_000_000

// Work is what is left of that number. The same command spends the same on every node.
type Work struct{ left int }

// NewWork is the work of one command.
func NewWork() *Work { return NewWorkOf(MaxWork) }

// NewWorkOf is work that may look at n values.
func NewWorkOf(n int) *Work { return &Work{n} }

// Left is how many values may still be looked at, negative once there were too many.
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

// Err is ErrWork once there was too much.
func (w *Work) Err() error {
	if w.left < 0 {
		return ErrWork
	}
	return nil
}
