package scenario

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/httpapi/fastpath"
	"github.com/trireme-dev/trireme/internal/httpclient"
)

// serveHere serves a handler at an address of this process. It shares the processors with the nodes, so it does what a
// server has to do and no more: net/http takes only what the fast path leaves to it.
func serveHere(h http.Handler) (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	withPath := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(r.RequestURI, "?") // which the fast path leaves to handlers
		h.ServeHTTP(w, r)
	})
	server := &fastpath.Server{
		Handler: withPath, HTTP: &http.Server{Handler: h}, Plain: func([]byte) bool { return true }, MaxHead: 64 << 10, MaxBody: 1 << 20,
		HeadTime: startTime, BodyTime: startTime, WriteTime: startTime, IdleTime: startTime,
	}
	go server.Serve(listener)
	return "http://" + listener.Addr().String() + "/", func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // nothing is worth waiting for
		_ = server.Shutdown(ctx)
	}, nil
}

// newAsking returns the endpoint's HTTP client for requests to the nodes.
func newAsking(perNode int) http.RoundTripper {
	return &httpclient.Client{Dial: new(net.Dialer).DialContext, MaxIdle: 4 * perNode, MaxIdlePerHost: perNode, IdleTime: time.Minute, MaxHead: 64 << 10}
}
