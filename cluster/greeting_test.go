package cluster

import (
	"errors"
	"net"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"trireme/fsm"
	"trireme/fsm/env"
)

// TestGreetingsArrive: what is sent is what is read, whatever the fields hold.
func TestGreetingsArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 100, 400)
		sent := greeting{text.Draw(t, "cluster"), text.Draw(t, "node"), text.Draw(t, "disk"), text.Draw(t, "to"), text.Draw(t, "arch"), env.Level(rapid.Uint32().Draw(t, "level")), []started{}}
		for range rapid.IntRange(0, keptProcesses).Draw(t, "processes") {
			sent.processes = append(sent.processes, started{rapid.Uint64().Draw(t, "boot"), rapid.StringN(0, 16, 16).Draw(t, "process")})
		}
		here, there := net.Pipe()
		defer there.Close()
		go func() {
			defer here.Close()
			_, _ = here.Write(sent.encode(forPeer)) // a short write shows on the other side
		}()
		got, what, err := readGreeting(there)
		if err != nil || what != forPeer || !reflect.DeepEqual(got, sent) {
			t.Fatalf("%+v arrived as %+v, %q, %v", sent, got, what, err)
		}
	})
}

// TestRefusalsArrive: the caller hears the reason, and can tell a removal apart.
func TestRefusalsArrive(t *testing.T) {
	for _, c := range []struct {
		why                 error
		removed, rolledBack bool
	}{{ErrOtherCluster, false, false}, {ErrRemoved, true, false}, {errors.Join(ErrRefused, ErrRemoved), true, false}, {errors.Join(ErrRefused, ErrRolledBack), false, true}} {
		here, there := net.Pipe()
		go func() {
			defer here.Close()
			writeRefusal(here, c.why)
		}()
		err := readConsent(there)
		if !errors.Is(err, ErrRefused) || errors.Is(err, ErrRemoved) != c.removed || errors.Is(err, ErrRolledBack) != c.rolledBack {
			t.Errorf("%v arrived as %v", c.why, err)
		}
		there.Close()
	}
}

// TestAdmission judges greetings one by one.
func TestAdmission(t *testing.T) {
	n := &Node{opts: Options{NodeID: "n1"}, machine: fsm.NewMachine(), identity: &identity{NodeID: "n1", DiskID: "d1", ClusterID: "one", Disks: map[string]string{"n2": "d2"}}}
	good := n.greet()
	good.node, good.disk, good.to = "n2", "d2", "n1"
	with := func(change func(*greeting)) greeting {
		g := good
		change(&g)
		return g
	}
	for name, c := range map[string]struct {
		g    greeting
		what purpose
		want error
	}{
		"one of ours":               {good, forRaft, nil},
		"an unknown node of ours":   {with(func(g *greeting) { g.node, g.disk = "n9", "d9" }), forRaft, nil},
		"another cluster":           {with(func(g *greeting) { g.cluster = "two" }), forPeer, ErrOtherCluster},
		"a wiped disk":              {with(func(g *greeting) { g.disk = "new" }), forPeer, ErrWipedDisk},
		"raft without a cluster":    {with(func(g *greeting) { g.cluster = "" }), forRaft, ErrRefused},
		"a question without one":    {with(func(g *greeting) { g.cluster = "" }), forPeer, nil},
		"meant for another":         {with(func(g *greeting) { g.to = "n3" }), forRaft, ErrAnotherNode},
		"for whoever has this port": {with(func(g *greeting) { g.to = "" }), forPeer, nil},
		"another processor":         {with(func(g *greeting) { g.arch = "pdp11" }), forPeer, ErrArchitecture},
	} {
		if err := n.admit(c.g, c.what); !errors.Is(err, c.want) || (c.want == nil && err != nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestDiscoveryIsSealed: whoever has no key, or another, learns nothing and is told why.
func TestDiscoveryIsSealed(t *testing.T) {
	key, other := []byte("0123456789abcdef"), []byte("fedcba9876543210")
	told := discovery{Cluster: "one", Servers: []Peer{{"n1", "h:1"}}}
	for name, c := range map[string]struct {
		theirs, ours []byte
		want         error
	}{
		"no keys": {nil, nil, nil}, "the same key": {key, key, nil}, "another key": {key, other, ErrGossipKey},
		"no key here": {key, nil, ErrGossipKey}, "no key there": {nil, key, ErrGossipKey},
	} {
		here, there := net.Pipe()
		go func() {
			defer here.Close()
			if what, err := readHead(here); err == nil && what == forDiscover {
				_ = answerDiscovery(here, c.theirs, told) // judged by what arrives
			}
		}()
		got, err := askDiscovery(there, c.ours)
		if !errors.Is(err, c.want) || (c.want == nil && (err != nil || got.Cluster != "one" || len(got.Servers) != 1)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		there.Close()
	}
}
