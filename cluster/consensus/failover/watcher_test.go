package failover_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/failover"
)

// Raft's own timeouts are so long that no test lives to see them: whatever is elected is elected by a Watcher.
const (
	never = 10 * time.Minute
	limit = time.Minute
)

// member is one node: raft in memory, and a real port that stands for its process.
type member struct {
	id    string
	raft  *raft.Raft
	port  net.Listener
	calls <-chan raft.RPC // to its raft
	slow  atomic.Bool     // its disk

	mu      sync.Mutex
	conns   []net.Conn
	watcher *failover.Watcher
}

// watching returns the member's watcher, nil without one.
func (m *member) watching() *failover.Watcher {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.watcher
}

func (m *member) setWatcher(w *failover.Watcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watcher = w
}

// serve keeps every connection open until the process ends.
func (m *member) serve() {
	for {
		c, err := m.port.Accept()
		if err != nil {
			return
		}
		m.mu.Lock()
		m.conns = append(m.conns, c)
		m.mu.Unlock()
	}
}

// closeConns ends all connections to the process, which lives on.
func (m *member) closeConns() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.conns {
		c.Close()
	}
	m.conns = nil
}

// nodes are members that reach each other.
type nodes struct {
	t   *testing.T
	all map[string]*member // by raft address
	// ended is closed when all are down.
	ended chan struct{}
}

// noState is a state machine without state.
type noState struct{}

func (noState) Apply(*raft.Log) any                 { return nil }
func (noState) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("no snapshot") }
func (noState) Restore(r io.ReadCloser) error       { return r.Close() }

// start makes members n1 to nN of which n1 leads. Watchers are started by watch.
func start(t *testing.T, count int, nonvoters ...string) *nodes {
	n := &nodes{t, map[string]*member{}, make(chan struct{})}
	t.Cleanup(func() {
		defer close(n.ended)
		for _, m := range n.all {
			if w := m.watching(); w != nil {
				w.Stop()
			}
			m.port.Close()
			m.closeConns()
			if err := m.raft.Shutdown().Error(); err != nil {
				t.Error(err)
			}
		}
	})
	var servers []raft.Server
	transports := map[string]*raft.InmemTransport{}
	for i := range count {
		id := fmt.Sprint("n", i+1)
		suffrage := raft.Voter
		for _, other := range nonvoters {
			if other == id {
				suffrage = raft.Nonvoter
			}
		}
		_, transports[id] = raft.NewInmemTransportWithTimeout(raft.ServerAddress(id), limit)
		servers = append(servers, raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(id), Suffrage: suffrage})
	}
	for id, from := range transports {
		for to, peer := range transports {
			from.Connect(raft.ServerAddress(to), peer)
		}
		n.all[id] = n.open(id, from, servers)
	}
	n.election("n1", transports["n1"])
	return n
}

// open starts raft without a watcher.
func (n *nodes) open(id string, transport *raft.InmemTransport, servers []raft.Server) *member {
	c := raft.DefaultConfig()
	c.LocalID, c.Logger = raft.ServerID(id), hclog.NewNullLogger()
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = never, never, never
	store := raft.NewInmemStore()
	snapshots := raft.NewInmemSnapshotStore()
	if err := raft.BootstrapCluster(c, store, store, snapshots, transport, raft.Configuration{Servers: servers}); err != nil {
		n.t.Fatal(err)
	}
	r, err := raft.NewRaft(c, noState{}, store, store, snapshots, transport)
	if err != nil {
		n.t.Fatal(err)
	}
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		n.t.Fatal(err)
	}
	m := &member{id: id, raft: r, port: port, calls: transport.Consumer()}
	go m.serve()
	n.config(m, transport)
	return m
}

// config prepares the member's watcher; watch starts it.
func (n *nodes) config(m *member, transport raft.Transport) {
	configs.Store(m, failover.Config{
		Raft: m.raft, Campaign: func() error { return timeoutNow(transport, raft.ServerID(m.id)) }, ID: raft.ServerID(m.id), Jitter: time.Millisecond,
		SlowDisk: m.slow.Load,
		Ask: func(s raft.Server, q failover.Ask) (failover.Answer, error) {
			other := n.all[string(s.Address)]
			c, err := net.Dial("tcp", other.port.Addr().String())
			if err != nil {
				return failover.Answer{}, err
			}
			c.Close()
			if w := other.watching(); w != nil {
				return w.Answer(q), nil
			}
			return failover.Answer{}, errors.New("not watching")
		},
		Watch: func(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
			return net.DialTimeout("tcp", n.all[string(addr)].port.Addr().String(), limit)
		},
	})
}

// configs are of members whose watcher was not started yet.
var configs sync.Map

// watch starts the watchers of some members.
func (n *nodes) watch(ids ...string) {
	for _, id := range ids {
		c, _ := configs.LoadAndDelete(n.all[id])
		n.all[id].setWatcher(failover.Start(c.(failover.Config)))
	}
}

// timeoutNow makes the node that t reaches campaign in the next term, whatever its state.
func timeoutNow(t raft.Transport, id raft.ServerID) error {
	h := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}
	return t.TimeoutNow(id, t.LocalAddr(), &raft.TimeoutNowRequest{RPCHeader: h}, &raft.TimeoutNowResponse{})
}

// election makes one member campaign, and waits until all follow it.
func (n *nodes) election(id string, transport raft.Transport) {
	n.t.Helper()
	if err := timeoutNow(transport, raft.ServerID(id)); err != nil {
		n.t.Fatal(err)
	}
	for _, m := range n.all {
		n.await(m.id+" follows "+id, func() bool { return n.leader(m) == id })
	}
	n.await("the first entry is committed", func() bool { return n.all[id].raft.Barrier(limit).Error() == nil })
	for _, m := range n.all { // so that no log is ahead of another
		n.await(m.id+" has all entries", func() bool { return m.raft.LastIndex() == n.all[id].raft.LastIndex() })
	}
}

// leader returns the id of the leader as a member sees it, empty if it knows none.
func (n *nodes) leader(m *member) string {
	_, id := m.raft.LeaderWithID()
	return string(id)
}

func (n *nodes) await(what string, done func() bool) {
	n.t.Helper()
	for begun := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > limit {
			n.t.Fatal("not in a minute: ", what)
		}
	}
}

// kill ends the process of a member: its port refuses, its connections end, and raft says nothing any more.
func (n *nodes) kill(id string) {
	m := n.all[id]
	if w := m.watching(); w != nil {
		w.Stop()
		m.setWatcher(nil)
	}
	if err := m.raft.Shutdown().Error(); err != nil {
		n.t.Error(err)
	}
	m.port.Close()
	m.closeConns()
	go func() {
		for {
			select {
			case call := <-m.calls:
				call.Respond(nil, errors.New("the process has ended"))
			case <-n.ended:
				return
			}
		}
	}()
}

// awaitWatched waits until a member's port has so many connections.
func (n *nodes) awaitWatched(id string, count int) {
	m := n.all[id]
	n.await("the leader's port is watched", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.conns) >= count
	})
}

// TestDeadLeaderIsReplaced: with timeouts of ten minutes a follower leads soon after the leader's process has died.
func TestDeadLeaderIsReplaced(t *testing.T) {
	n := start(t, 3)
	n.watch("n2", "n3")
	n.awaitWatched("n1", 2)
	n.kill("n1")
	n.await("a successor", func() bool {
		return n.all["n2"].raft.State() == raft.Leader || n.all["n3"].raft.State() == raft.Leader
	})
	if fired := n.all["n2"].watching().Stats.Fired.Load() + n.all["n3"].watching().Stats.Fired.Load(); fired == 0 {
		t.Error("no watcher has made its node campaign")
	}
}

// TestLivingLeaderStays: connections that end prove nothing while the leader's port still answers.
func TestLivingLeaderStays(t *testing.T) {
	n := start(t, 3)
	n.watch("n1", "n2", "n3")
	term := n.all["n1"].raft.CurrentTerm()
	for round := range int64(3) {
		for _, id := range []string{"n2", "n3"} {
			w := n.all[id].watching()
			n.await(id+" finds the leader alive", func() bool {
				n.all["n1"].closeConns()
				return w.Stats.Alive.Load() > round
			})
		}
	}
	for _, id := range []string{"n1", "n2", "n3"} {
		w := n.all[id].watching()
		if fired := w.Stats.Fired.Load(); fired != 0 || n.all[id].raft.CurrentTerm() != term {
			t.Errorf("%s has campaigned %d times, term %d", id, fired, n.all[id].raft.CurrentTerm())
		}
	}
	if closed := n.all["n1"].watching().Stats.Closed.Load(); closed != 0 {
		t.Errorf("the leader watches itself: %d connections have ended", closed)
	}
}

// ask returns the question of n3 about the leader n1, as of now.
func (n *nodes) ask() failover.Ask {
	r := n.all["n3"].raft
	return failover.Ask{From: "n3", Leader: "n1", Term: r.CurrentTerm(), LastTerm: r.CurrentTerm(), LastIndex: r.LastIndex()}
}

// TestVoterRefuses: each reason for which a voter does not agree.
func TestVoterRefuses(t *testing.T) {
	n := start(t, 3)
	n.watch("n1", "n2")
	if a := n.all["n1"].watching().Answer(n.ask()); a.Granted || !a.Leads || a.Why != "leads" {
		t.Errorf("the leader says %+v", a)
	}
	only := n.ask()
	only.LastIndex = 0
	if a := n.all["n1"].watching().Answer(only); a.Granted || !a.Leads {
		t.Errorf("the leader, asked whether it leads, says %+v", a)
	}
	if a := n.all["n2"].watching().Answer(only); a.Granted || a.Leads {
		t.Errorf("a follower, asked whether it leads, says %+v", a)
	}
	voter := n.all["n2"].watching()
	if a := voter.Answer(n.ask()); a.Granted || a.Why != "leader is alive" {
		t.Errorf("of a leader that lives: %+v", a)
	}
	for why, change := range map[string]func(*failover.Ask){
		"later term":     func(q *failover.Ask) { q.Term-- },
		"another leader": func(q *failover.Ask) { q.Leader = "n9" },
	} {
		q := n.ask()
		change(&q)
		if a := voter.Answer(q); a.Granted || a.Why != why {
			t.Errorf("want %q: %+v", why, a)
		}
	}
	n.kill("n1")
	for name, change := range map[string]func(*failover.Ask){
		"an older term":      func(q *failover.Ask) { q.LastTerm-- },
		"fewer entries":      func(q *failover.Ask) { q.LastIndex-- },
		"as many, lower id":  func(q *failover.Ask) { q.From = "n9" },
		"no entries of term": func(q *failover.Ask) { q.LastTerm, q.LastIndex = 1, 1 },
	} {
		q := n.ask()
		change(&q)
		if a := voter.Answer(q); a.Granted || a.Why != "ahead" {
			t.Errorf("%s: %+v, want that it is ahead", name, a)
		}
	}
}

// TestVoterGrants: a voter agrees once it finds the leader's port closed itself and is not ahead; of two equal logs the lower id wins.
func TestVoterGrants(t *testing.T) {
	n := start(t, 3)
	n.watch("n2")
	n.all["n1"].port.Close()
	q := n.ask()
	q.From = "n1" // of equal logs the one with the lower id may ask
	if a := n.all["n2"].watching().Answer(q); !a.Granted || a.Leads {
		t.Errorf("equal logs: %+v", a)
	}
	q = n.ask()
	q.LastIndex++
	if a := n.all["n2"].watching().Answer(q); !a.Granted {
		t.Errorf("more entries: %+v", a)
	}
	q = n.ask()
	q.LastTerm, q.LastIndex = q.LastTerm+1, 1
	if a := n.all["n2"].watching().Answer(q); !a.Granted {
		t.Errorf("a later term: %+v", a)
	}
}

// TestHealthyDiskGoesFirst: of two equal logs that on the healthy disk leads, whatever the ids; a longer log leads on any disk.
func TestHealthyDiskGoesFirst(t *testing.T) {
	n := start(t, 3)
	n.watch("n2")
	n.all["n1"].port.Close()
	voter := n.all["n2"].watching()
	q := n.ask()
	q.From, q.SlowDisk = "n1", true
	if a := voter.Answer(q); a.Granted || a.Why != "ahead" {
		t.Errorf("a slow disk before a healthy one: %+v", a)
	}
	q.LastIndex++
	if a := voter.Answer(q); !a.Granted {
		t.Errorf("a longer log on a slow disk: %+v", a)
	}
	n.all["n2"].slow.Store(true)
	q = n.ask()
	q.From = "n9"
	if a := voter.Answer(q); !a.Granted {
		t.Errorf("a healthy disk asks a slow one: %+v", a)
	}
	q.SlowDisk = true
	if a := voter.Answer(q); a.Granted {
		t.Errorf("two slow disks, and the higher id asks: %+v", a)
	}
}

// TestSlowDiskLeavesTheLead: of two followers that find the leader dead at once, the one with the healthy disk is elected.
func TestSlowDiskLeavesTheLead(t *testing.T) {
	n := start(t, 3)
	n.all["n2"].slow.Store(true) // it has the lower id, and would go first
	n.watch("n2", "n3")
	n.awaitWatched("n1", 2)
	n.kill("n1")
	n.await("n3 leads", func() bool { return n.all["n3"].raft.State() == raft.Leader })
	if fired := n.all["n2"].watching().Stats.Fired.Load(); fired != 0 {
		t.Errorf("the node with the slow disk has campaigned %d times", fired)
	}
}

// TestNonvoterNeverCampaigns: a campaign would make it disturb the cluster for nothing.
func TestNonvoterNeverCampaigns(t *testing.T) {
	n := start(t, 3, "n2") // to which the voter n3 consents
	c, _ := configs.Load(n.all["n2"])
	config, watched := c.(failover.Config), atomic.Int64{}
	dial := config.Watch
	config.Watch = func(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
		if timeout > 100*time.Millisecond { // not to find out whether the leader is dead, but to watch it
			watched.Add(1)
		}
		return dial(addr, timeout)
	}
	configs.Store(n.all["n2"], config)
	n.watch("n2", "n3")
	n.awaitWatched("n1", 2)
	n.kill("n1")
	w := n.all["n2"].watching()
	n.await("the leader is found dead, and the watcher is through with it", func() bool { return w.Stats.Refused.Load() > 0 && watched.Load() > 1 })
	w.Stop()
	n.all["n2"].setWatcher(nil)
	if fired := w.Stats.Fired.Load(); fired != 0 || n.all["n2"].raft.State() != raft.Follower {
		t.Errorf("a non-voter has campaigned %d times and is %s", fired, n.all["n2"].raft.State())
	}
}

// TestNoMajorityNoCampaign: a follower whose peers do not agree leaves the election to raft's own timeout.
func TestNoMajorityNoCampaign(t *testing.T) {
	n := start(t, 3)
	n.watch("n2") // n3 gives no consent
	n.awaitWatched("n1", 1)
	n.kill("n1")
	w := n.all["n2"].watching()
	n.await("peers were asked", func() bool { return w.Stats.Denied.Load() > 2 })
	if fired := w.Stats.Fired.Load(); fired != 0 || n.all["n2"].raft.State() != raft.Follower {
		t.Errorf("it has campaigned %d times and is %s", fired, n.all["n2"].raft.State())
	}
}

// TestOnlyRefusalProvesDeath: a dial that fails otherwise, such as by a timeout, is counted as not known.
func TestOnlyRefusalProvesDeath(t *testing.T) {
	n := start(t, 2)
	c, _ := configs.LoadAndDelete(n.all["n2"])
	config := c.(failover.Config)
	dial, broken := config.Watch, make(chan struct{})
	config.Watch = func(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
		select {
		case <-broken:
			return nil, &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}
		default:
			return dial(addr, timeout)
		}
	}
	w := failover.Start(config)
	n.all["n2"].setWatcher(w)
	n.awaitWatched("n1", 1)
	close(broken)
	n.all["n1"].closeConns()
	n.await("the dial is tried again", func() bool { return w.Stats.Unknown.Load() > 1 })
	if w.Stats.Refused.Load() != 0 || w.Stats.Fired.Load() != 0 {
		t.Errorf("found dead %d times, campaigned %d times", w.Stats.Refused.Load(), w.Stats.Fired.Load())
	}
}
