package env_test

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// node counts what it is told and asked.
type node struct {
	tracking, monitored, secrets bool
	used                         []string
	yields, large                int
}

func (n *node) Tracking() bool              { return n.tracking }
func (n *node) Monitored() bool             { return n.monitored }
func (n *node) Used(e *env.Env, key []byte) { n.used = append(n.used, e.Database+"/"+string(key)) }
func (n *node) Secret([]byte) bool          { return n.secrets }
func (n *node) Yield()                      { n.yields++ }
func (n *node) Large()                      { n.large++ }

// TestApplyTakesNothingFromItsNode: a write learns no secret of its node and lets nobody run while it holds the state; only a
// read on a fork is paced. What a read changes nobody is told of.
func TestApplyTakesNothingFromItsNode(t *testing.T) {
	for _, c := range []struct {
		readOnly, bounded              bool
		tracks, secret, paced, telling bool
	}{
		{false, false, true, false, false, false}, // an apply
		{true, true, false, true, false, true},    // a read that writes wait for
		{true, false, false, true, true, true},    // a read on a fork
	} {
		n := &node{tracking: true, monitored: true, secrets: true}
		e := env.New(1, 0, env.Latest, seed, 0)
		e.Node, e.Database, e.ReadOnly, e.Bounded = n, "shop", c.readOnly, c.bounded
		e.TellUse([]byte("k"))
		e.Yield()
		e.CountSteps(100 * env.MaxInlineCost)
		e.CountSteps(100 * env.MaxInlineCost)
		if e.Tracks() != c.tracks || !e.Monitors() || e.Secret(nil) != c.secret || e.Paced() != c.paced {
			t.Errorf("%+v: tracks %v, monitors %v, secret %v, paced %v", c, e.Tracks(), e.Monitors(), e.Secret(nil), e.Paced())
		}
		if c.telling != (len(n.used) == 1 && n.used[0] == "shop/k") {
			t.Errorf("%+v: told of %v", c, n.used)
		}
		yields, large := 0, 0
		if c.paced {
			yields, large = 3, 1
		}
		if n.yields != yields || n.large != large {
			t.Errorf("%+v: %d yields and %d large, want %d and %d", c, n.yields, n.large, yields, large)
		}
	}
}

// TestWithoutNode: a request without a node tells and asks nobody.
func TestWithoutNode(t *testing.T) {
	e := env.New(1, 0, env.Latest, seed, 0)
	e.ReadOnly = true
	e.TellUse([]byte("k"))
	e.Yield()
	e.CountSteps(100 * env.MaxInlineCost)
	if e.Tracks() || e.Monitors() || e.Secret(nil) || e.Paced() {
		t.Error("there is no node, yet something is asked of it")
	}
}
