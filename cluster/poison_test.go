package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/poison"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// poisoned is a cluster of three nodes whose processes have ended twice, or so their marks say, at an entry of database shop.
type poisoned struct {
	*clustertest.Cluster
	t     *testing.T
	index uint64
	mu    sync.Mutex
	fatal map[string]string // why nodes had to stop
}

// in runs a command in a database through the log.
func (p *poisoned) in(node int, db string, words ...string) (fsm.Results, error) {
	as := acl.Trusted(acl.DefaultName)
	as.DB = db
	return fsm.Do(p.t.Context(), p.Nodes[node], fsm.Exec, fsm.Batch{As: as, Rows: [][][]byte{clustertest.Words(words...)}})
}

// read reads a key of a database.
func (p *poisoned) read(node int, db, key string) (v reply.Value, err error) {
	as := acl.Trusted(acl.DefaultName)
	as.DB = db
	_, err = p.Nodes[node].Read(p.t.Context(), fsm.Reading{}, func(view *fsm.View) {
		v = view.Exec(as, command.OriginInternal, clustertest.Words("GET", key))
	})
	return v, err
}

func (p *poisoned) write(node int, db string, words ...string) uint64 {
	p.t.Helper()
	r, err := p.in(node, db, words...)
	if err != nil {
		p.t.Fatalf("%v in %s: %v", words, db, err)
	}
	return r.Index
}

func newPoisoned(t *testing.T, snapshot func(*poisoned)) *poisoned {
	p := &poisoned{t: t, fatal: map[string]string{}}
	p.Cluster = clustertest.Start(t, 3, func(o *cluster.Options) {
		id := o.NodeID
		o.Fatal = func(reason string) { p.mu.Lock(); p.fatal[id] = reason; p.mu.Unlock() }
	})
	eventually(t, "the level is in force", func() bool { return p.Nodes[0].Machine().Level() >= env.Base })
	tokens := fsm.DatabaseTokens{Name: "shop", Standard: acl.DigestOf("s"), ReadOnly: acl.DigestOf("r")}
	if _, err := fsm.Do(t.Context(), p.Nodes[0], fsm.CreateDatabase, tokens); err != nil {
		t.Fatal(err)
	}
	for i := range p.Nodes {
		p.write(i, "", "SET", "registered", "1") // no node has to register any more, in the entry that the mark names by its first request
	}
	p.write(0, "shop", "SET", "before", "1")
	p.write(0, "", "SET", "before", "1")
	p.index = p.write(0, "shop", "SET", "poison", "1")
	p.write(0, "", "SET", "after", "1")
	p.write(0, "shop", "SET", "after", "1")
	if snapshot != nil {
		snapshot(p)
	}
	return p
}

// endTwice stops nodes and makes their marks say that two processes have ended at the entry.
func (p *poisoned) endTwice(nodes ...int) {
	p.t.Helper()
	var number uint64
	p.Nodes[0].Machine().View(0, [16]byte{}, func(v *fsm.View) { number = v.Database("shop") })
	p.StopAll()
	for _, i := range nodes {
		for range poison.Ends {
			m, err := poison.Open(p.Dirs[i])
			if err != nil {
				p.t.Fatal(err)
			}
			*m.Progress() = fsm.Progress{Index: p.index, Request: 1, Database: number}
			if err := m.Close(); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

func (p *poisoned) open(nodes ...int) {
	p.t.Helper()
	for _, i := range nodes {
		if err := p.Open(i); err != nil {
			p.t.Fatal(err)
		}
	}
}

// waits waits until nodes wait before the entry.
func (p *poisoned) waits(nodes ...int) {
	p.t.Helper()
	for _, i := range nodes {
		eventually(p.t, fmt.Sprint(p.List[i].ID, " waits before the entry"), func() bool { return p.Nodes[i].Poison() != nil })
	}
}

// equal waits until all nodes have the same state.
func (p *poisoned) equal() {
	p.t.Helper()
	eventually(p.t, "all nodes have one state", func() bool {
		seen := map[string]bool{}
		for _, n := range p.Nodes {
			f := n.Machine().Fork()
			seen[fmt.Sprint(f.Index(), f.Digest())] = true
		}
		return len(seen) == 1
	})
}

func (p *poisoned) quarantine(node int, database string) error {
	_, err := p.Nodes[node].Quarantine(p.t.Context(), database)
	return err
}

// frozen checks that all nodes serve the other databases, and that shop is in quarantine.
func (p *poisoned) frozen() {
	p.t.Helper()
	p.WaitReady()
	for i := range p.Nodes {
		p.write(i, "", "SET", fmt.Sprint("by ", i), "1")
		if v, err := p.read(i, "", "after"); err != nil || v.Text() != "1" {
			p.t.Errorf("n%d: what was acknowledged behind the entry: %v %v", i+1, v, err)
		}
		if _, err := p.in(i, "shop", "SET", "more", "1"); !errors.Is(err, fsm.ErrQuarantined) {
			p.t.Errorf("n%d: a write to shop: %v", i+1, err)
		}
		if v, err := p.read(i, "shop", "before"); !errors.Is(err, fsm.ErrQuarantined) {
			p.t.Errorf("n%d: a read of shop: %v %v", i+1, v, err)
		}
	}
	p.equal()
}

// TestPoisonEntry makes all nodes end twice at an entry. They say which, apply nothing, and go on without its database when
// the operator says so, also where they start anew, and where the database comes out of quarantine.
func TestPoisonEntry(t *testing.T) {
	p := newPoisoned(t, nil)
	p.endTwice(0, 1, 2)
	p.open(0, 1, 2)
	p.waits(0, 1, 2)
	for i, n := range p.Nodes {
		if got := n.Poison(); got.Index != p.index || got.Database != "shop" || got.Operation != "exec" || fmt.Sprint(got.Databases) != "[shop]" {
			t.Errorf("n%d waits before %+v, want entry %d", i+1, got, p.index)
		}
		if at, _ := n.Machine().Applied(); at != p.index-1 {
			t.Errorf("n%d has applied %d, want what is before entry %d", i+1, at, p.index)
		}
		if _, err := p.read(i, "", "before"); !errors.Is(err, fsm.ErrPoison) {
			t.Errorf("n%d: a read: %v", i+1, err)
		}
		if _, err := p.in(i, "", "SET", "k", "v"); !errors.Is(err, fsm.ErrPoison) {
			t.Errorf("n%d: a write: %v", i+1, err)
		}
		if err := n.Snapshot(); err == nil {
			t.Errorf("n%d has written a snapshot that claims what it has not applied", i+1)
		}
	}
	for _, wrong := range []string{"default", "elsewhere", ""} {
		if err := p.quarantine(0, wrong); !errors.Is(err, cluster.ErrRecover) || !strings.Contains(err.Error(), "of database shop") {
			t.Errorf("quarantine of %q: %v", wrong, err)
		}
	}
	for i := range p.Nodes {
		if err := p.quarantine(i, "shop"); i == 0 && err != nil {
			t.Fatal(err)
		} else if i > 0 && !errors.Is(err, cluster.ErrRecover) {
			t.Errorf("n%d has put it into quarantine again: %v", i+1, err)
		}
	}
	p.frozen()

	p.StopAll() // the entry is applied again at the next start, and its mark says nothing of it
	p.StartAll()
	p.frozen()
	for _, n := range p.Nodes {
		if err := n.Snapshot(); err != nil {
			t.Error(err)
		}
	}
	p.StopAll()
	p.StartAll()
	p.frozen()

	if _, err := fsm.Do(t.Context(), p.Nodes[0], fsm.Release, fsm.DatabaseName{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	p.write(0, "shop", "SET", "again", "1")
	for _, c := range []struct{ key, want string }{{"before", "1"}, {"poison", ""}, {"after", ""}, {"again", "1"}} {
		if v, err := p.read(1, "shop", c.key); err != nil || v.Text() != c.want {
			t.Errorf("%s of shop is %v, %v", c.key, v, err)
		}
	}
	p.equal()
	if len(p.fatal) > 0 {
		t.Errorf("stopped: %v", p.fatal)
	}
}

// TestPoisonOfOneNode makes two of three nodes end twice at an entry that the third one has applied. The third one leads, and
// the error says that the fault is in the two. When it is away they can go on without the database; it then applies its log
// anew as they have.
func TestPoisonOfOneNode(t *testing.T) {
	p := newPoisoned(t, nil)
	p.endTwice(0, 1)
	p.open(0, 1, 2)
	p.waits(0, 1)
	eventually(t, "the node that is past the entry leads", func() bool { return p.Nodes[2].IsLeader() })
	p.write(2, "shop", "SET", "alone", "1")
	for i := range p.Nodes {
		if err := p.quarantine(i, "shop"); !errors.Is(err, cluster.ErrRecover) || !strings.Contains(err.Error(), "n3 has applied") {
			t.Errorf("quarantine through n%d: %v", i+1, err)
		}
	}
	p.Stop(2)
	eventually(t, "the others have agreed", func() bool { return p.quarantine(0, "shop") == nil })
	p.open(2)
	eventually(t, "the third one has found out", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return strings.Contains(p.fatal["n3"], "start it again")
	})
	p.Stop(2)
	p.open(2)
	p.frozen()
}

// TestPoisonOvertaken gives a node that waits before an entry a copy of a state that is past it.
func TestPoisonOvertaken(t *testing.T) {
	p := newPoisoned(t, nil)
	p.endTwice(0)
	p.Adjust = func(adjust func(*cluster.Options)) func(*cluster.Options) {
		return func(o *cluster.Options) { adjust(o); o.TrailingLogs = 1 }
	}(p.Adjust)
	p.open(0, 1, 2)
	p.waits(0)
	eventually(t, "another node leads", func() bool { return p.Nodes[1].IsLeader() || p.Nodes[2].IsLeader() })
	leader := p.Leader()
	p.Stop(0)
	for i := range 600 { // more than fewestTrailing
		p.write(leader, "", "SET", fmt.Sprint("k", i), "v")
	}
	for _, i := range []int{1, 2} {
		if err := p.Nodes[i].Snapshot(); err != nil {
			t.Fatal(err)
		}
	}
	p.open(0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	eventually(t, "it has the state of the others", func() bool { return p.Nodes[0].Ready(ctx) })
	p.equal()
}
