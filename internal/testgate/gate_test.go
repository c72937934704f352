package testgate

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// TestGateHoldsAndOpens: all who come are counted and held, and go on together; who comes later is not held.
func TestGateHoldsAndOpens(t *testing.T) {
	g := New(t)
	var passed sync.WaitGroup
	gone := make(chan int, 3)
	for i := range 3 {
		passed.Go(func() { g.Wait(); gone <- i })
	}
	g.Reached(3)
	if len(gone) != 0 {
		t.Error("one has passed a closed gate")
	}
	g.Open()
	g.Open()
	passed.Wait()
	g.Wait()
	if g.came != 4 || len(gone) != 3 {
		t.Errorf("%d came, %d have gone on", g.came, len(gone))
	}
}

// TestGateOpensWithTheEndOfTheTest: a test that ends while a handler is held has a cleanup that waits for the handler, whichever of
// gate and server was made first.
func TestGateOpensWithTheEndOfTheTest(t *testing.T) {
	for name, gateFirst := range map[string]bool{"gate first": true, "server first": false} {
		t.Run(name, func(t *testing.T) {
			var g *Gate
			if gateFirst {
				g = New(t)
			}
			s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { g.Wait() }))
			t.Cleanup(s.Close) // waits for the handler
			if !gateFirst {
				g = New(t)
			}
			go func() {
				r, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, s.URL, nil)
				if resp, err := http.DefaultClient.Do(r); err == nil {
					resp.Body.Close()
				}
			}()
			g.Reached(1)
		})
	}
}

// TestReceive receives values and the end of a channel.
func TestReceive(t *testing.T) {
	ch := make(chan int, 1)
	ch <- 7
	if Receive(t, "seven", ch) != 7 {
		t.Error("another value")
	}
	close(ch)
	Receive(t, "the end", ch)
}
