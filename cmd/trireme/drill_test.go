package main

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm"
)

// TestDrillFindsDifferences: a digest, a count and a database that is missing are each a difference.
func TestDrillFindsDifferences(t *testing.T) {
	backup := []fsm.Part{{Database: "default", Name: "keys", Records: 2, Digest: "aa"}, {Database: "shop", Name: "keys", Records: 1, Digest: "bb"}}
	with := func(change func(p []fsm.Part) []fsm.Part) []fsm.Part {
		return change(append([]fsm.Part(nil), backup...))
	}
	for name, c := range map[string]struct {
		restored []fsm.Part
		equal    bool
	}{
		"equal":     {with(func(p []fsm.Part) []fsm.Part { return p }), true},
		"a digest":  {with(func(p []fsm.Part) []fsm.Part { p[1].Digest = "cc"; return p }), false},
		"a count":   {with(func(p []fsm.Part) []fsm.Part { p[0].Records = 3; return p }), false},
		"missing":   {with(func(p []fsm.Part) []fsm.Part { return p[:1] }), false},
		"too many":  {with(func(p []fsm.Part) []fsm.Part { return append(p, fsm.Part{Database: "x", Name: "keys"}) }), false},
		"all empty": {nil, false},
	} {
		d := &drill{}
		d.compare(backup, c.restored)
		var out strings.Builder
		if err := d.print(&out, false); err != nil {
			t.Fatal(err)
		}
		if d.Equal != c.equal || c.equal == strings.Contains(out.String(), "NOT all digests are equal") {
			t.Errorf("%s: %v\n%s", name, d.Equal, out.String())
		}
	}
}
