package ascii

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestASCII compares with package strings on ASCII, and expects all other bytes to be left alone.
func TestASCII(t *testing.T) {
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
	}
	low, high := string(all[:128]), string(all[128:])
	if got := Lower(low + high); got != strings.ToLower(low)+high {
		t.Errorf("Lower: %q", got)
	}
	if got := Upper(low + high); got != strings.ToUpper(low)+high {
		t.Errorf("Upper: %q", got)
	}
	for a := range 256 {
		for b := range 256 {
			want := a == b || a < 128 && b < 128 && strings.EqualFold(string(rune(a)), string(rune(b)))
			if got := EqualFold(string(all[a:a+1]), string(all[b:b+1])); got != want {
				t.Errorf("EqualFold(%#x, %#x): %v", a, b, got)
			}
		}
	}
	for _, pair := range [][2]string{{"\u212aey", "key"}, {"\u017fet", "set"}, {"a", "ab"}, {"", "\x00"}} {
		if EqualFold(pair[0], pair[1]) || EqualFold(pair[1], pair[0]) {
			t.Errorf("%q counts as %q", pair[0], pair[1])
		}
	}
	for c := range 256 {
		s := "a" + string(all[c:c+1]) + "b"
		want := []string{s}
		if bytes.IndexByte([]byte(Blank), byte(c)) >= 0 {
			want = []string{"a", "b"}
		}
		if got := Fields(" " + s + "\n"); !slices.Equal(got, want) || IsBlank(byte(c)) != (len(want) == 2) {
			t.Errorf("Fields around %#x: %q", c, got)
		}
	}
	if Fields(" \t") != nil || Fields("") != nil {
		t.Error("there are words in blanks")
	}
}
