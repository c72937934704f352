package testgate

import (
	"sync"
	"testing"
	"time"
)

// patience is the longest time that a test waits for an event that has to come: far longer than a busy machine takes.
const patience = time.Minute

// Gate is a place at which goroutines wait until the test opens it. Make one with New.
type Gate struct {
	t    testing.TB
	once sync.Once
	open chan struct{}

	mu      sync.Mutex
	came    int
	changed chan struct{} // closes when came changes
}

// New is a gate that is closed until Open, or until the test is over.
func New(t testing.TB) *Gate {
	return &Gate{t: t, open: make(chan struct{}), changed: make(chan struct{})}
}

// Wait holds its caller until the gate opens. Any number of goroutines may call it, also those that the test has not started.
func (g *Gate) Wait() {
	g.mu.Lock()
	g.came++
	close(g.changed)
	g.changed = make(chan struct{})
	g.mu.Unlock()
	select {
	case <-g.open:
	case <-g.t.Context().Done(): // the test is over, and its cleanups are about to wait for who is held here
	}
}

// Reached waits until Wait was called n times in all. It fails the test after a minute.
func (g *Gate) Reached(n int) {
	g.t.Helper()
	for end := time.After(patience); ; {
		g.mu.Lock()
		came, changed := g.came, g.changed
		g.mu.Unlock()
		if came >= n {
			return
		}
		select {
		case <-changed:
		case <-end:
			g.t.Fatalf("%d of %d have come to the gate", came, n)
		}
	}
}

// Open releases all goroutines, present and later ones. It may be called again.
func (g *Gate) Open() { g.once.Do(func() { close(g.open) }) }

// Receive receives from ch, or until it is closed. After a minute without either it fails the test: what names what did
// not come. The goroutine of the test calls it.
func Receive[T any](t testing.TB, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("this did not come: %s", what)
		panic("unreachable: Fatalf does not return")
	}
}
