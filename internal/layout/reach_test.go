package layout

import "testing"

// The rules hold for what a package reaches through others, too.
func TestNoPackageReachesWhatItMustNot(t *testing.T) {
	g := Imports(repository(t))
	for from := range g {
		rule := RuleOf(from)
		if rule == nil || matches(Support, from) {
			continue
		}
		for _, pattern := range rule.Never {
			if chain := g.Reach(from, pattern, Machine); chain != "" {
				t.Errorf("%s must not reach %s (internal/layout/rules.go), and does: %s", from, pattern, chain)
			}
		}
	}
}

// Rules stand in an order in which every import goes down, so no chain of imports leads up or in a circle of folders.
func TestNoImportRunsUpwards(t *testing.T) {
	for from, all := range Imports(repository(t)) {
		for _, to := range all {
			if Upward(from, to) {
				t.Errorf("%s imports %s, whose rule stands above its own", from, to)
			}
		}
	}
}

// Planted chains: what is reached through others is found, what lies behind the machine is not.
func TestReachFindsChains(t *testing.T) {
	g := Graph{
		"cluster": {"fsm", "fsm/wire", "internal/helper"}, "fsm": {"fsm/command"}, "fsm/command": {"fsm/keyspace"},
		"internal/helper": {"node/searchindex", "internal/helper/deep"}, "node/searchindex": {"fsm/keyspace", "internal/helper"},
	}
	for _, c := range []struct{ from, pattern, want string }{
		{"cluster", "fsm/command", ""},
		{"fsm", "fsm/keyspace", "fsm → fsm/command → fsm/keyspace"},
		{"cluster", "fsm/keyspace", "cluster → internal/helper → node/searchindex → fsm/keyspace"},
		{"cluster", "node/...", "cluster → internal/helper → node/searchindex"},
		{"cluster", "scheduler/...", ""},
		{"node/searchindex", "internal/helper/deep", "node/searchindex → internal/helper → internal/helper/deep"},
		{"fsm/wire", "fsm", ""},
	} {
		if got := g.Reach(c.from, c.pattern, Machine); got != c.want {
			t.Errorf("%s reaches %s by %q, want %q", c.from, c.pattern, got, c.want)
		}
	}
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"cluster", "httpapi", true},
		{"fsm/command", "fsm", true},
		{"internal/plural", "fsm/wire", true},
		{"node/pubsub", "cluster", true},
		{"httpapi", "node/pubsub", false},
		{"cluster", "cluster/session", false},
		{"fsm", "internal/plural", false},
		{"jepsen/sim", "scheduler", false},
		{"cluster/clustertest", "fsm/command", false},
	} {
		if got := Upward(c.from, c.to); got != c.want {
			t.Errorf("%s imports %s: upward %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
