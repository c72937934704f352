package replication_test

import (
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/logstore"
	"github.com/trireme-dev/trireme/cluster/consensus/replication"
	"github.com/trireme-dev/trireme/cluster/transport"
)

const kind = transport.Failed + 1

// gate is a log store that can be held up, or made to fail, before it stores commands.
type gate struct {
	raft.LogStore
	mu   sync.Mutex
	wait chan struct{}
	err  error
}

func (g *gate) set(wait chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wait, g.err = wait, err
}

func (g *gate) StoreLogs(logs []*raft.Log) error {
	g.mu.Lock()
	wait, err := g.wait, g.err
	g.mu.Unlock()
	if wait != nil && logs[0].Type == raft.LogCommand {
		<-wait
	}
	if err != nil { // whatever it is: a node that keeps the first entry of its term stays leader
		return err
	}
	return g.LogStore.StoreLogs(logs)
}

// has reports whether the store has a command.
func (g *gate) has(data string) bool {
	first, _ := g.FirstIndex()
	last, _ := g.LastIndex()
	for i := max(first, 1); i <= last; i++ {
		var l raft.Log
		if g.GetLog(i, &l) == nil && string(l.Data) == data {
			return true
		}
	}
	return false
}

// member is a raft node with a port of its own. It is also its port's callbacks.
type member struct {
	id     raft.ServerID
	old    bool // it doesn't understand calls with appends
	mux    *transport.Mux
	raft   *raft.Raft
	log    *gate
	toRaft chan raft.RPC
	net    *raft.NetworkTransport

	mu      sync.Mutex
	applied []string
	calls   int // appends that came as calls
}

func (m *member) Hello() transport.Hello                         { return transport.Hello{Node: string(m.id)} }
func (m *member) Expected(string) string                         { return "any" }
func (m *member) Admit(transport.Hello, transport.Purpose) error { return nil }
func (m *member) Verify(string, time.Duration) error             { return nil }
func (m *member) Excluded(error)                                 {}
func (m *member) Rejected(net.Addr, error)                       {}
func (m *member) Handle(_ transport.Hello, _ transport.Kind, payload []byte, answer func([]byte, error)) {
	switch {
	case m.old:
		answer(nil, errors.New("unknown call"))
	case len(payload) == 0:
		answer(nil, nil)
	default:
		m.mu.Lock()
		m.calls++
		m.mu.Unlock()
		replication.Answer(m.mux.Context(), m.toRaft, payload, answer)
	}
}

func (m *member) Apply(l *raft.Log) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applied = append(m.applied, string(l.Data))
	return string(l.Data)
}

func (m *member) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("no snapshots") }
func (m *member) Restore(io.ReadCloser) error         { return errors.New("no snapshots") }

func (m *member) has() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.applied)
}

func (m *member) carried() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// consumer is a transport from whose channel raft takes calls: those of its own transport, and ours.
type consumer struct {
	replication.Transport
	c <-chan raft.RPC
}

func (c consumer) Consumer() <-chan raft.RPC { return c.c }

// stream is the port as raft's own transport dials through it.
type stream struct{ *transport.Mux }

func (s stream) Dial(addr raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return s.DialRaft(string(addr), timeout)
}

// start starts three nodes; those in old are of an older version. It returns the leader first.
func start(t *testing.T, old ...int) []*member {
	t.Helper()
	var all []*member
	var servers raft.Configuration
	for i := range 3 {
		m := &member{id: raft.ServerID([]string{"n1", "n2", "n3"}[i]), old: slices.Contains(old, i), toRaft: make(chan raft.RPC)}
		var err error
		if m.mux, err = transport.Listen(transport.Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, m); err != nil {
			t.Fatal(err)
		}
		m.mux.Start()
		servers.Servers = append(servers.Servers, raft.Server{ID: m.id, Address: raft.ServerAddress(m.mux.Advertise())})
		all = append(all, m)
	}
	for i, m := range all {
		m.start(t, servers)
		t.Cleanup(func() { all[i].stop() })
	}
	leader := await(t, "a leader", func() *member {
		for _, m := range all {
			if m.raft.State() == raft.Leader {
				return m
			}
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b *member) int {
		switch leader {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	return all
}

func (m *member) start(t *testing.T, servers raft.Configuration) {
	t.Helper()
	logger := hclog.NewNullLogger()
	m.net = raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{Stream: stream{m.mux}, MaxPool: 3, Timeout: 10 * time.Second, Logger: logger, MaxRPCsInFlight: 4})
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(m.id), Addr: []byte(m.mux.Advertise())}
	s := &replication.Sender{Kind: kind, Unknown: "unknown call", Dial: m.mux.DialAppends, Header: header}
	m.log = &gate{LogStore: raft.NewInmemStore()}
	go func() {
		for {
			select {
			case c := <-m.net.Consumer():
				m.toRaft <- c
			case <-m.mux.Context().Done():
				return
			}
		}
	}()
	tr := consumer{s.Over(m.net), m.toRaft}
	c := raft.DefaultConfig()
	c.LocalID, c.Logger = m.id, logger
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout, c.CommitTimeout = time.Second, time.Second, time.Second, 5*time.Millisecond
	stable, snaps := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
	if err := raft.BootstrapCluster(c, m.log, stable, snaps, tr, servers); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.raft, err = raft.NewRaft(c, m, s.Log(m.log), stable, snaps, tr); err != nil {
		t.Fatal(err)
	}
	s.Started(m.raft)
}

func (m *member) stop() {
	m.log.set(nil, nil)
	m.raft.Shutdown().Error()
	m.mux.Close()
	m.net.Close()
	m.mux.Wait()
}

func await[T comparable](t *testing.T, what string, get func() T) (v T) {
	t.Helper()
	var zero T
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if v = get(); v != zero {
			return v
		}
	}
	t.Fatal("waited in vain for " + what)
	return v
}

func write(t *testing.T, m *member, data string) {
	t.Helper()
	if err := m.raft.Apply([]byte(data), 10*time.Second).Error(); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

// pipelined writes until both followers get their entries early.
func pipelined(t *testing.T, all []*member) {
	t.Helper()
	await(t, "pipelines", func() bool {
		write(t, all[0], "warm")
		return all[1].carried() > 2 && all[2].carried() > 2
	})
}

// TestFollowersSyncWhileTheLeaderDoes: followers have an entry while the leader's disk is still at work on it, and nobody is
// answered, and nothing applied anywhere, before the leader's disk has it.
func TestFollowersSyncWhileTheLeaderDoes(t *testing.T) {
	all := start(t)
	pipelined(t, all)
	await(t, "everything on both followers", func() bool { // a follower that is behind gets nothing early
		last := all[0].raft.LastIndex()
		return all[1].raft.LastIndex() == last && all[2].raft.LastIndex() == last
	})
	disk := make(chan struct{})
	release := sync.OnceFunc(func() { close(disk) })
	t.Cleanup(release) // or raft would not end
	all[0].log.set(disk, nil)
	f := all[0].raft.Apply([]byte("x"), 0)
	answered := make(chan error, 1)
	go func() { answered <- f.Error() }()
	await(t, "the entry on both followers", func() bool { return all[1].log.has("x") && all[2].log.has("x") })
	before := all[0].raft.CommitIndex()
	select {
	case err := <-answered:
		t.Fatalf("answered without the leader's disk: %v", err)
	default:
	}
	for _, m := range all {
		if slices.Contains(m.has(), "x") {
			t.Errorf("%s has applied it", m.id)
		}
	}
	all[0].log.set(nil, nil)
	release()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if all[0].raft.CommitIndex() <= before {
		t.Error("nothing was committed")
	}
	for _, m := range all {
		await(t, "the entry on "+string(m.id), func() bool { return slices.Contains(m.has(), "x") })
	}
}

// TestLeaderWhoseDiskFails: an entry that followers have and the leader's disk refuses is not acknowledged; the leader steps
// down, the others go on, and all apply the same in the same order.
func TestLeaderWhoseDiskFails(t *testing.T) {
	all := start(t)
	pipelined(t, all)
	all[0].log.set(nil, errors.New("disk full"))
	if err := all[0].raft.Apply([]byte("x"), 0).Error(); err == nil {
		t.Fatal("acknowledged without the leader's disk")
	}
	await(t, "the entry on a follower", func() bool { return all[1].log.has("x") || all[2].log.has("x") })
	next := await(t, "another leader", func() *member {
		for _, m := range all[1:] {
			if m.raft.State() == raft.Leader && m.raft.Barrier(time.Second).Error() == nil {
				return m
			}
		}
		return nil
	})
	all[0].log.set(nil, nil)
	write(t, next, "y")
	want := next.has()
	for _, m := range all {
		await(t, "y on "+string(m.id), func() bool { return slices.Contains(m.has(), "y") })
		if got := m.has(); !slices.Equal(got, want) {
			t.Errorf("%s applied %q, the leader %q", m.id, got, want)
		}
	}
}

// TestOlderFollowers: a node that doesn't understand the calls gets its entries from raft's own transport.
func TestOlderFollowers(t *testing.T) {
	for name, old := range map[string][]int{"all": {0, 1, 2}, "two": {0, 1}, "one": {2}} {
		t.Run(name, func(t *testing.T) {
			all := start(t, old...)
			for _, s := range []string{"a", "b", "c"} {
				write(t, all[0], s)
			}
			for _, m := range all {
				await(t, "c on "+string(m.id), func() bool { return slices.Contains(m.has(), "c") })
				if m.old && m.carried() > 0 {
					t.Errorf("%s was sent %d calls", m.id, m.carried())
				}
			}
		})
	}
}

// TestConcurrentEntries: with many entries on their way none is lost, repeated or out of order.
func TestConcurrentEntries(t *testing.T) {
	all := start(t)
	pipelined(t, all)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := all[0].raft.Apply([]byte("e"), 10*time.Second).Error(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	want := len(all[0].has())
	for _, m := range all {
		await(t, "all on "+string(m.id), func() bool { return len(m.has()) == want })
		if got := m.has(); !slices.Equal(got, all[0].has()) {
			t.Errorf("%s applied something else", m.id)
		}
	}
}

// Raft empties the log after it installs a snapshot only if it sees, through the sender, that the store is monotonic.
func TestRaftSeesMonotonicThroughTheSender(t *testing.T) {
	var l raft.LogStore = new(replication.Sender).Log(new(logstore.Store))
	if m, ok := l.(raft.MonotonicLogStore); !ok || !m.IsMonotonic() {
		t.Error("got a log that is not monotonic, want one that is")
	}
}
