package keyspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// TestEncoding counts up to where Redis changes the form of a value.
func TestEncoding(t *testing.T) {
	list := func(n int, text string) Container {
		l := NewElements()
		for i := range n {
			l.Insert(i, text)
		}
		return l
	}
	hash := func(n int, text string, at int64) Container {
		h := NewFields()
		for i := range n {
			h.Set(env.At(0), fmt.Sprint("f", i), text, Deadline(at))
		}
		return h
	}
	set := func(n int, format string) Container {
		s := NewMembers()
		for i := range n {
			s.Add(fmt.Sprintf(format, i))
		}
		return s
	}
	short, long := strings.Repeat("x", 64), strings.Repeat("x", 65)
	for i, c := range []struct {
		data Container
		want string
	}{
		{list(1, "a"), "listpack"}, {list(122, short), "listpack"}, {list(123, short), "quicklist"}, // an entry takes 67 bytes
		{list(120, long), "listpack"}, {list(121, long), "quicklist"}, {list(1, strings.Repeat("x", 8190)), "quicklist"}, {list(2728, "a"), "listpack"}, {list(2729, "a"), "quicklist"},
		{hash(512, short, 0), "listpack"}, {hash(513, "a", 0), "hashtable"}, {hash(2, long, 0), "hashtable"}, {hash(2, "a", 9), "listpackex"}, {hash(2, long, 9), "hashtable"},
		{set(512, "%d"), "intset"}, {set(513, "%d"), "hashtable"}, {set(128, "m%d"), "listpack"}, {set(129, "m%d"), "hashtable"}, {set(2, long+"%d"), "hashtable"},
	} {
		if got := newHolder("", c.data).Encoding(); got != c.want {
			t.Errorf("%d: a %s: %s, want %s", i, c.data.Type(), got, c.want)
		}
	}
}
