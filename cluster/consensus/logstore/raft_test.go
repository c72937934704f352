package logstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// recorder is a state machine that keeps what it was given.
type recorder struct {
	mu  sync.Mutex
	got []byte
	bad string
}

func (r *recorder) Apply(l *raft.Log) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, l.Data...)
	if string(l.Extensions) != "ours" {
		r.bad = fmt.Sprintf("entry %d: extensions %q", l.Index, l.Extensions)
	}
	return nil
}

func (r *recorder) state(t *testing.T) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad != "" {
		t.Fatal(r.bad)
	}
	return bytes.Clone(r.got)
}

func (r *recorder) Snapshot() (raft.FSMSnapshot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return frozen(bytes.Clone(r.got)), nil
}

func (r *recorder) Restore(in io.ReadCloser) error {
	b, err := io.ReadAll(in)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = b
	return err
}

type frozen []byte

func (f frozen) Persist(w raft.SnapshotSink) error {
	if _, err := w.Write(f); err != nil {
		return err
	}
	return w.Close()
}

func (frozen) Release() {}

// member is one raft node on a store of its own.
type member struct {
	id    raft.ServerID
	dir   string
	tr    *raft.InmemTransport
	raft  *raft.Raft
	fsm   *recorder
	store *Store
	dead  deaths
}

func (m *member) start(t *testing.T) {
	t.Helper()
	snaps := openSnaps(t, m.dir)
	o := quiet(m.dir, &m.dead)
	var err error
	if o.Snapshots, err = CheckSnapshots(m.dir); err != nil {
		t.Fatal(err)
	}
	m.store = mustOpen(t, o)
	c := raft.DefaultConfig()
	c.LocalID, c.Logger = m.id, hclog.NewNullLogger()
	// Long enough that nobody loses his leadership because the machine is busy: what a test does depends on who leads.
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout, c.CommitTimeout = time.Second, time.Second, time.Second, 10*time.Millisecond
	c.TrailingLogs, c.SnapshotThreshold, c.SnapshotInterval = 100, 1<<30, time.Hour
	m.fsm = &recorder{}
	if m.raft, err = raft.NewRaft(c, m.fsm, m.store, m.store, snaps, m.tr); err != nil {
		t.Fatal(err)
	}
	r := m.raft
	t.Cleanup(func() { r.Shutdown().Error() }) // of a test that failed, before its store is closed: raft panics without one
}

func (m *member) stop(t *testing.T) {
	t.Helper()
	if err := cmp.Or(m.raft.Shutdown().Error(), m.store.Close()); err != nil {
		t.Fatal(err)
	}
	if all := m.dead.list(); len(all) > 0 {
		t.Fatal(all)
	}
}

// testCluster holds three nodes in one process.
type testCluster struct {
	t  *testing.T
	ms []*member
	n  uint64
}

func newTestCluster(t *testing.T) *testCluster {
	c := &testCluster{t: t}
	var conf raft.Configuration
	for i := range 3 {
		m := &member{id: raft.ServerID(fmt.Sprint("n", i)), dir: t.TempDir()}
		addr, tr := raft.NewInmemTransport(raft.ServerAddress(m.id))
		m.tr = tr
		c.ms = append(c.ms, m)
		conf.Servers = append(conf.Servers, raft.Server{ID: m.id, Address: addr})
	}
	for _, m := range c.ms {
		c.link(m, true)
		m.start(t)
	}
	if err := c.ms[0].raft.BootstrapCluster(conf).Error(); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *testCluster) link(m *member, on bool) {
	for _, o := range c.ms {
		switch {
		case o == m:
		case on:
			m.tr.Connect(o.tr.LocalAddr(), o.tr)
			o.tr.Connect(m.tr.LocalAddr(), m.tr)
		default:
			m.tr.Disconnect(o.tr.LocalAddr())
			o.tr.Disconnect(m.tr.LocalAddr())
		}
	}
}

func (c *testCluster) wait(what string, f func() bool) {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatal("waited in vain for ", what)
		}
	}
}

func (c *testCluster) leader(not *member) (l *member) {
	c.t.Helper()
	c.wait("a leader", func() bool {
		for _, m := range c.ms {
			if m != not && m.raft.State() == raft.Leader {
				l = m
				return true
			}
		}
		return false
	})
	return l
}

func (c *testCluster) apply(l *member, k int) (last raft.ApplyFuture) {
	for range k {
		c.n++
		last = l.raft.ApplyLog(raft.Log{Data: binary.BigEndian.AppendUint64(nil, c.n), Extensions: []byte("ours")}, 5*time.Second)
	}
	return last
}

func (c *testCluster) mustApply(l *member, k int) {
	c.t.Helper()
	if err := c.apply(l, k).Error(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *testCluster) same() {
	c.t.Helper()
	c.wait("equal state machines", func() bool {
		want := c.ms[0].fsm.state(c.t)
		return bytes.Equal(want, c.ms[1].fsm.state(c.t)) && bytes.Equal(want, c.ms[2].fsm.state(c.t))
	})
}

// Three raft nodes on the store: appends, a conflict (the deposed leader's tail
// is cut), a snapshot sent to a node that fell behind, a user's restore,
// restarts in order and without.
func TestUnderRaft(t *testing.T) {
	c := newTestCluster(t)
	old := c.leader(nil)
	c.mustApply(old, 500)
	c.same()

	c.link(old, false) // entries that only the old leader has
	lost := c.apply(old, 20)
	c.mustApply(c.leader(old), 300)
	c.link(old, true)
	if lost.Error() == nil {
		t.Fatal("a write without a majority was acknowledged")
	}
	c.same()

	c.link(old, false) // falls behind a snapshot
	lead := c.leader(old)
	c.mustApply(lead, 600)
	if err := lead.raft.Snapshot().Error(); err != nil {
		t.Fatal(err)
	}
	c.link(old, true)
	c.same()
	c.mustApply(c.leader(nil), 1)
	c.wait("the old log to go", func() bool {
		first, _ := old.store.FirstIndex()
		return first >= 700
	})

	c.restore()
	c.stop()
	for _, m := range c.ms { // Shutdown has cut the links
		c.link(m, true)
		m.start(t)
	}
	c.mustApply(c.leader(nil), 10)
	c.same()
	c.stop()
}

// stop stops all nodes.
func (c *testCluster) stop() {
	c.t.Helper()
	for _, m := range c.ms {
		m.stop(c.t)
	}
}

// restore puts the leader's own snapshot back into the cluster and goes on.
func (c *testCluster) restore() {
	c.t.Helper()
	lead := c.leader(nil)
	f := lead.raft.Snapshot()
	if err := f.Error(); err != nil {
		c.t.Fatal(err)
	}
	meta, r, err := f.Open()
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Close()
	if err := lead.raft.Restore(meta, r, 10*time.Second); err != nil {
		c.t.Fatal(err)
	}
	c.mustApply(lead, 200)
	c.same()
}

// A damaged newest snapshot on a restarting node: raft falls back to the older
// one and the log, and arrives at the same state.
func TestRestartOverADamagedSnapshot(t *testing.T) {
	c := newTestCluster(t)
	lead := c.leader(nil)
	for range 2 {
		c.mustApply(lead, 80)
		if err := lead.raft.Snapshot().Error(); err != nil {
			t.Fatal(err)
		}
	}
	c.mustApply(lead, 10)
	c.same()
	lead.stop(t)
	list, err := CheckSnapshots(lead.dir)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	damageState(t, list[0].Path)
	c.link(lead, true)
	lead.start(t)
	c.mustApply(c.leader(nil), 5)
	c.same()
	c.stop()
}
