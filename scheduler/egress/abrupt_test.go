package egress_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/trireme-dev/trireme/scheduler/egress"
)

// TestCancelledRequestStopsAtOnce gives up a request that the other side has not taken yet: what the
// kernel still holds of it is not sent.
func TestCancelledRequestStopsAtOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	tr := transport(t, egress.Options{Policy: loopbackOnly()})
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+listener.Addr().String(), bytes.NewReader(make([]byte, 64<<20)))
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		resp, err := tr.RoundTrip(r)
		if err == nil {
			resp.Body.Close()
		}
		failed <- err
	}()
	c, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); err != nil { // it is under way, and more than the buffers hold
		t.Fatal(err)
	}
	giveUp()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Fatalf("the request ended with %v", err)
	}
	if n, err := io.Copy(io.Discard, c); !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("%d bytes came, then %v", n, err)
	}
}
