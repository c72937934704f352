package httpapitest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Watch puts a proxy before the server at an address, until the test ends, and returns its URL. It checks every reply
// against a description, and fails the test for one that differs.
func Watch(t testing.TB, d *Description, addr string) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply, err := pass(r, addr)
		if err != nil {
			t.Errorf("proxy: %v", err)
			panic(http.ErrAbortHandler)
		}
		if err := d.Check(r.Method, r.RequestURI, reply); err != nil {
			t.Error(err)
		}
		for name, values := range reply.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(reply.Status)
		io.WriteString(w, reply.Body)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// pass sends on a request with its target unchanged, and reads the reply.
func pass(r *http.Request, addr string) (Reply, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Reply{}, err
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+addr, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	out.URL.Opaque, out.Header = "//"+addr+r.RequestURI, r.Header.Clone()
	out.Header.Del("Accept-Encoding") // the transport unpacks what it has asked for itself
	response, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Reply{Status: response.StatusCode, Header: response.Header, Body: string(text)}, err
}
