package httpsyntax

import (
	"testing"

	"golang.org/x/net/http/httpguts"
)

// TestAgreesWithHTTPGuts compares every byte with what net/http goes by.
func TestAgreesWithHTTPGuts(t *testing.T) {
	for c := range 256 {
		s := "a" + string([]byte{byte(c)}) + "b"
		if got, want := IsToken(s), httpguts.ValidHeaderFieldName(s); got != want {
			t.Errorf("IsToken(%q) is %v", s, got)
		}
		if got, want := IsValue([]byte(s)), httpguts.ValidHeaderFieldValue(s); got != want {
			t.Errorf("IsValue(%q) is %v", s, got)
		}
		if IsPlainHost(s) && !httpguts.ValidHostHeader(s) {
			t.Errorf("IsPlainHost(%q) of no valid host", s)
		}
	}
	if IsToken("") || IsPlainHost("") || !IsValue("") {
		t.Error("only a value may be empty")
	}
}

func TestHasBareLineFeed(t *testing.T) {
	for text, want := range map[string]bool{"": false, "a\r\nb\r\n": false, "a\r\nb": false, "\n": true, "a\nb": true, "a\r\n\nb": true, "a\r\r\n\r\n": false} {
		if HasBareLineFeed([]byte(text)) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}
