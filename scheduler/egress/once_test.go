package egress_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/trireme-dev/trireme/scheduler/egress"
)

// refusing is an HTTP/2 server that answers the first request of each connection and refuses the
// others as not processed, which invites clients to send them again.
func refusing(t *testing.T, requests *atomic.Int64) (url string, roots *x509.CertPool) {
	t.Helper()
	pki := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(pki.Close)
	roots = x509.NewCertPool()
	roots.AddCert(pki.Certificate())
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: pki.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go refuse(c, requests)
		}
	}()
	return "https://" + l.Addr().String(), roots
}

func refuse(c net.Conn, requests *atomic.Int64) {
	defer c.Close()
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	_ = f.WriteSettings()
	for first := true; ; {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			requests.Add(1)
			if !first {
				_ = f.WriteRSTStream(frame.StreamID, http2.ErrCodeRefusedStream)
				continue
			}
			first = false
			var block bytes.Buffer
			_ = hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: frame.StreamID, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
		}
	}
}

// TestHTTP2RequestIsSentOnce: a stream that the other side says it has not processed is not sent
// again either.
func TestHTTP2RequestIsSentOnce(t *testing.T) {
	for _, c := range []struct{ method, body string }{{"POST", "x"}, {"POST", ""}, {"GET", ""}, {"DELETE", ""}} {
		var requests atomic.Int64
		url, roots := refusing(t, &requests)
		tr := transport(t, egress.Options{Policy: loopbackOnly(), Roots: roots})
		failed := 0
		for range 4 {
			r, err := http.NewRequestWithContext(t.Context(), c.method, url, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := tr.RoundTrip(r)
			if err != nil {
				failed++
				continue
			}
			answer.Body.Close()
		}
		if got := requests.Load(); got != 4 || failed != 3 {
			t.Errorf("%s %q: 4 calls were %d requests, %d of them failed", c.method, c.body, got, failed)
		}
	}
}
