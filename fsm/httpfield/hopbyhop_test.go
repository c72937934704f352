package httpfield

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

// TestEndToEnd: what a Connection names stays with the connection, whatever it is, and so do the names of RFC 9110.
func TestEndToEnd(t *testing.T) {
	h := http.Header{
		"Connection": {"close, X-One", " x-two ,,"}, "X-One": {"1"}, "X-Two": {"2"}, "X-Three": {"3", "4"}, "Content-Type": {"a/b"}, "Keep-Alive": {"timeout=5"},
		"Proxy-Connection": {"close"}, "Proxy-Authenticate": {"Basic"}, "Proxy-Authorization": {"x"}, "Te": {"trailers"}, "Trailer": {"X"}, "Transfer-Encoding": {"chunked"},
		"Upgrade": {"h2c"}, "Cache-Control": {"no-store"},
	}
	if got := slices.Sorted(maps.Keys(EndToEnd(h))); !slices.Equal(got, []string{"Cache-Control", "Content-Type", "X-Three"}) {
		t.Errorf("%v", got)
	}
	if !IsHopByHop("tE", nil) || IsHopByHop("X-One", nil) || !IsHopByHop("X-ONE", []string{"x-one"}) || IsHopByHop("Content-Type", []string{"content-type"}) {
		t.Error("names count in any case, and Content-Type describes the content")
	}
}
