package spectest

import (
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// claim is one sentence of the specification as a test.
type claim struct {
	id  string
	run func(*testing.T, *world)
}

func (c claim) ID() string { return c.id }

// claims are all claims, in the order of the specification.
var claims = slices.Concat(intro, resources, endpoints, batches, streams, formats, families, authentication, failures, limitations)

// TestSpec runs the claims. Claims about parts that are not built are skipped as open.
func TestSpec(t *testing.T) {
	index := readIndex(t)
	for _, form := range []struct {
		name  string
		start func(*testing.T) *world
	}{{"one-node", oneNode}, {"three-nodes", threeNodes}} {
		t.Run(form.name, func(t *testing.T) {
			w := form.start(t)
			for _, c := range claims {
				t.Run(c.id, func(t *testing.T) {
					index.SkipOpen(t, c.id)
					c.run(t, w)
				})
			}
		})
	}
}

func readIndex(t *testing.T) *httpapitest.Index {
	return httpapitest.ReadIndex(t, "../..", "docs/reports/spec-index.md", 100, "KV")
}

// TestIndex keeps the index and the claims together.
func TestIndex(t *testing.T) { httpapitest.CheckIndex(t, readIndex(t), claims) }
