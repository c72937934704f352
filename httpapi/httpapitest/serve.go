package httpapitest

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi"
)

// stopTimeout bounds the time that the requests of a test may take to end.
const stopTimeout = 10 * time.Second

// Start runs a server on a loopback socket until the caller shuts it down. Then served has the error of Serve.
func Start(t testing.TB, o httpapi.Options) (s *httpapi.Server, addr string, served <-chan error) {
	t.Helper()
	s, err := httpapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	return s, l.Addr().String(), ended
}

// Serve runs a server on a loopback socket until the test ends, and returns its address.
// Over an Engine it gets a hub of its own, as every node has one.
func Serve(t testing.TB, o httpapi.Options) string {
	t.Helper()
	if e, own := o.Engine.(*Engine); own && o.Hub == nil {
		o.Hub = e.NewHub(t)
	}
	s, addr, served := Start(t, o)
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
	return addr
}

// NewRequest returns a request with the Standard token. Header lines are "Name: value" and may replace the token.
func NewRequest(t testing.TB, method, url, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+Token)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		r.Header.Set(name, strings.TrimSpace(value))
	}
	return r
}

// ReadReply reads the reply to a request to its end. It fails the test if there was an error instead.
func ReadReply(t testing.TB, res *http.Response, err error) Reply {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return Reply{res.StatusCode, res.Header, string(body)}
}
