package plural_test

import (
	"testing"

	"github.com/trireme-dev/trireme/internal/plural"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		n          int64
		noun, want string
	}{
		{0, "key", "0 keys"}, {1, "key", "1 key"}, {2, "key", "2 keys"}, {1, "library", "1 library"}, {2, "library", "2 libraries"}, {1, "day", "1 day"}, {2, "hash", "2 hashes"}, {-1, "URL group", "-1 URL groups"},
	} {
		if got := plural.Of(c.n, c.noun); got != c.want {
			t.Errorf("%d of %s: %q, want %q", c.n, c.noun, got, c.want)
		}
	}
	if got := plural.Of(uint32(2), "day"); got != "2 days" {
		t.Errorf("%q", got)
	}
}
