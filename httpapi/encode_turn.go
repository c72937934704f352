package httpapi

import (
	"net/http"
	"runtime"

	"github.com/trireme-dev/trireme/internal/yield"
)

// encodeTurns bounds how many long replies (above streamAbove) a node encodes and compresses at once: half of the
// processors, so that the many steps of a short request find one free. docs/design/fairness.md describes the effect.
type encodeTurns chan struct{}

func newEncodeTurns() encodeTurns { return make(encodeTurns, max(1, runtime.GOMAXPROCS(0)/2)) }

// do encodes in a turn.
func (t encodeTurns) do(encode func()) {
	t <- struct{}{}
	defer func() { <-t }()
	encode()
}

// writer returns a writer for a long reply, which holds a turn until it is closed, but not while it writes to the
// connection: a client that does not read keeps no other from encoding.
func (t encodeTurns) writer(w http.ResponseWriter) *turnWriter {
	t <- struct{}{}
	return &turnWriter{ResponseWriter: w, turns: t}
}

// turnWriter is the writer of a reply that is encoded in turn with others.
type turnWriter struct {
	http.ResponseWriter
	turns encodeTurns
	ended bool
}

// Write writes without holding the turn, and waits for the next one. Go's scheduler lets a goroutine that computes go on
// for 10 ms while others wait, and a short request takes about ten steps on different goroutines: each would wait that
// long. So waiting goroutines run after each part.
func (w *turnWriter) Write(b []byte) (int, error) {
	<-w.turns
	defer func() { w.turns <- struct{}{} }()
	yield.Processor()
	return w.ResponseWriter.Write(b)
}

// close ends the turn. Everything that is written after it is encoded already.
func (w *turnWriter) close() {
	if !w.ended {
		w.ended = true
		<-w.turns
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *turnWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
