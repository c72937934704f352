package fastpath

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestPlainRequestToTLS: a client that speaks HTTP to a TLS port is told so; other bytes are not answered.
func TestPlainRequestToTLS(t *testing.T) {
	certified := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer certified.Close()
	for sent, answered := range map[string]bool{"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n": true, "\x00\x01\x02\x03\x04\x05": false} {
		here, there := net.Pipe()
		secure := tls.Server(there, certified.TLS)
		go func() {
			_, err := secure.Read(make([]byte, 1))
			refusePlain(err)
			there.Close()
		}()
		_ = here.SetDeadline(time.Now().Add(time.Minute))
		go func() { _, _ = io.WriteString(here, sent) }() // the rest is never read
		text, _ := io.ReadAll(here)
		if got := strings.Contains(string(text), "400 Bad Request") && strings.Contains(string(text), "HTTP request to an HTTPS server"); got != answered {
			t.Errorf("%q was answered %q", sent, text)
		}
		here.Close()
	}
}
