package spectest

import (
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// claim is one rule as a test.
type claim struct {
	id  string
	run func(*testing.T, *world)
}

func (c claim) ID() string { return c.id }

// claims are all claims, in the order of the specification.
var claims = slices.Concat(intro, keys, deadLetters, events, published, states, eventFilters, destinations, publishing, callbacks, times, limits,
	routing, errorTexts, delivery, resources)

// TestSpec runs the claims. Claims about parts that are not built are skipped as open.
func TestSpec(t *testing.T) {
	index := readIndex(t)
	w := startWorld(t)
	for _, c := range claims {
		t.Run(c.id, func(t *testing.T) {
			index.SkipOpen(t, c.id)
			c.run(t, w)
		})
	}
}

func readIndex(t *testing.T) *httpapitest.Index {
	return httpapitest.ReadIndex(t, "../../..", "docs/reports/messages-index.md", 150, "MS", "MP")
}

// TestIndex keeps the index and the claims together, and finds the tests that it names in
// other packages.
func TestIndex(t *testing.T) { httpapitest.CheckIndex(t, readIndex(t), claims) }
