package httpapitest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi"
)

// stopTimeout bounds the time that the requests of a test may take to end.
const stopTimeout = 10 * time.Second

// Serve runs a server on a loopback socket until the test ends, and returns its address.
// Over an Engine it gets a hub of its own, as every node has one.
func Serve(t testing.TB, o httpapi.Options) string {
	t.Helper()
	if e, own := o.Engine.(*Engine); own && o.Hub == nil {
		o.Hub = e.NewHub(t)
	}
	s, err := httpapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}
