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

// claims are all claims.
var claims = slices.Concat(starts, waits, deadLetters, revivals, logs, stepFields, states, settings, once)

// TestSpec runs the claims, several at once: most of them wait.
func TestSpec(t *testing.T) {
	w := startWorld(t)
	t.Run("all", func(t *testing.T) {
		for _, c := range claims {
			t.Run(c.id, func(t *testing.T) {
				t.Parallel()
				c.run(t, w.in(t))
			})
		}
	})
}

func readIndex(t *testing.T) *httpapitest.Index {
	return httpapitest.ReadIndex(t, "../../..", "docs/reports/workflows-index.md", 60, "WS", "WP")
}

// TestIndex keeps the index and the claims together, and finds the tests that it names in
// other packages.
func TestIndex(t *testing.T) { httpapitest.CheckIndex(t, readIndex(t), claims) }
