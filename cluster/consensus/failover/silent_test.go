package failover_test

import (
	"sync/atomic"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/failover"
)

// hearing returns a flag for each member, which hears its leader until the flag is set.
func (n *nodes) hearing(ids ...string) map[string]*atomic.Bool {
	silent := map[string]*atomic.Bool{}
	for _, id := range ids {
		c, _ := configs.Load(n.all[id])
		config := c.(failover.Config)
		silent[id] = &atomic.Bool{}
		config.Silent = silent[id].Load
		configs.Store(n.all[id], config)
	}
	return silent
}

// TestSilentLeaderIsReplaced: a leader whose port answers, but that a majority does not hear, is replaced without raft's timeouts.
func TestSilentLeaderIsReplaced(t *testing.T) {
	n := start(t, 3)
	silent := n.hearing("n2", "n3")
	n.watch("n2", "n3")
	silent["n2"].Store(true)
	w := n.all["n2"].watching()
	n.await("n3 refuses, who hears the leader", func() bool { return w.Stats.Denied.Load() > 2 })
	if w.Stats.Silent.Load() == 0 || w.Stats.Fired.Load() != 0 || n.all["n1"].raft.State() != raft.Leader {
		t.Errorf("one of two hears nothing: silent %d times, campaigned %d times, n1 is %s", w.Stats.Silent.Load(), w.Stats.Fired.Load(), n.all["n1"].raft.State())
	}
	silent["n3"].Store(true)
	n.await("a successor", func() bool {
		return n.all["n2"].raft.State() == raft.Leader || n.all["n3"].raft.State() == raft.Leader
	})
	if w.Stats.Fired.Load()+n.all["n3"].watching().Stats.Fired.Load() == 0 {
		t.Error("no watcher has made its node campaign")
	}
}

// TestVoterHearsNothing: a voter agrees without a dial if it hears nothing itself. If it hears the leader it never agrees for
// another's silence alone.
func TestVoterHearsNothing(t *testing.T) {
	n := start(t, 3)
	silent := n.hearing("n2")
	n.watch("n2")
	voter := n.all["n2"].watching()
	q := n.ask()
	q.From, q.Silent = "n1", true // of equal logs the one with the lower id may ask
	if a := voter.Answer(q); a.Granted || a.Why != "hears the leader" {
		t.Errorf("it hears the leader: %+v", a)
	}
	n.all["n1"].port.Close() // which a dial would find dead
	if a := voter.Answer(q); a.Granted {
		t.Errorf("asked for silence: %+v", a)
	}
	silent["n2"].Store(true)
	behind := q
	behind.LastIndex--
	if a := voter.Answer(behind); a.Granted || a.Why != "ahead" {
		t.Errorf("fewer entries: %+v", a)
	}
	if a := voter.Answer(q); !a.Granted {
		t.Errorf("it hears nothing: %+v", a)
	}
}
