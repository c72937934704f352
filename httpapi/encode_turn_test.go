package httpapi

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
)

// stuckWriter is a connection whose client reads nothing before the test says so.
type stuckWriter struct {
	http.ResponseWriter
	entered, leave chan struct{}
}

func (w *stuckWriter) Write(b []byte) (int, error) {
	w.entered <- struct{}{}
	<-w.leave
	return w.ResponseWriter.Write(b)
}

// TestEncodeTurns: as many replies as there are turns are encoded at once, and one whose client does not read holds no
// turn.
func TestEncodeTurns(t *testing.T) {
	turns := newEncodeTurns()
	if most := max(1, runtime.GOMAXPROCS(0)/2); cap(turns) != most {
		t.Fatalf("%d turns, want %d", cap(turns), most)
	}
	entered, leave := make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	for range 2 * cap(turns) {
		go func() {
			w := turns.writer(&stuckWriter{httptest.NewRecorder(), entered, leave})
			defer w.close()
			if _, err := w.Write([]byte("long")); err != nil {
				t.Error(err)
			}
			w.close() // twice is once
			ended <- struct{}{}
		}()
	}
	for range 2 * cap(turns) {
		<-entered // all of them write, and none has ended
	}
	for range cap(turns) {
		turns <- struct{}{} // every turn is free
	}
	encoded := make(chan struct{})
	go func() { turns.do(func() {}); close(encoded) }()
	select {
	case <-encoded:
		t.Error("encoded without a turn")
	default:
	}
	for range cap(turns) {
		<-turns
	}
	<-encoded
	for range 2 * cap(turns) {
		leave <- struct{}{}
	}
	for range 2 * cap(turns) {
		<-ended
	}
	if len(turns) != 0 {
		t.Errorf("%d turns are held when all is done", len(turns))
	}
}
