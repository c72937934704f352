package consensus

import (
	"errors"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/trireme-dev/trireme/cluster/consensus/replication"
	"github.com/trireme-dev/trireme/internal/testgate"
)

// Each test here fails when a new version of the library changes what a seam relies on (docs/design/consensus.md).

// What raft looks for in a transport and in a state machine. It asks at run time, and does without what it does not find.
var (
	_ raft.WithPreVote = (*ownTransport)(nil)
	_ raft.WithClose   = (*ownTransport)(nil)
	_ raft.BatchingFSM = (*machine)(nil)
)

// TestCampaignNeedsNoTimer: with timeouts of a minute a node leads at once when it is told to campaign, also when there is a
// leader, which steps down.
func TestCampaignNeedsNoTimer(t *testing.T) {
	all := start(t, 3)
	all[0].lead(t)
	all[0].write(t, "a")
	await(t, "n2 has the entry", func() bool { return all[1].has("a") })
	all[1].lead(t)
	await(t, "n1 follows n2", func() bool {
		leader, _ := all[0].Leader()
		return leader.ID == "n2" && all[0].Role() == Follower
	})
	all[1].write(t, "b")
}

// TestLeaderIsAddressed: raft names its leader by id and address, which calls to it need.
func TestLeaderIsAddressed(t *testing.T) {
	all := start(t, 3)
	all[2].lead(t)
	want := Server{ID: "n3", Addr: all[2].mux.Advertise(), Voter: true}
	for _, m := range all {
		await(t, m.id+" knows the leader", func() bool { _, known := m.Leader(); return known })
		if got, _ := m.Leader(); got != want {
			t.Errorf("%s has leader %+v, want %+v", m.id, got, want)
		}
	}
	testgate.Receive(t, "the news that n3 leads", all[2].LeadershipChanges())
}

// appended sends a follower an append of a leader that is the test.
func appended(t *testing.T, m *member, q raft.AppendEntriesRequest) {
	t.Helper()
	q.RPCHeader = header("n2", "127.0.0.1:1")
	payload, err := replication.AppendRequest(nil, &q)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	m.Handle(m.Hello(), calls.Append, payload, func(b []byte, err error) {
		var a raft.AppendEntriesResponse
		if err == nil {
			err = replication.DecodeResponse(b, &a)
		}
		if err == nil && !a.Success {
			err = errors.New("raft refused the append")
		}
		answered <- err
	})
	if err := testgate.Receive(t, "the answer to an append", answered); err != nil {
		t.Fatal(err)
	}
}

// TestFollowerLearnsACommitIndex: a follower commits what the leader has said is committed, without another append, if it has
// that very entry. A commit index whose entry it does not have commits nothing.
func TestFollowerLearnsACommitIndex(t *testing.T) {
	m := open(t, "n1")
	m.found(t, Server{ID: "n1", Addr: m.mux.Advertise(), Voter: true}, Server{ID: "n2", Addr: "127.0.0.1:1", Voter: true})
	const term = 7
	entry := &raft.Log{Index: 2, Term: term, Type: raft.LogCommand, Data: []byte("x")}
	appended(t, m, raft.AppendEntriesRequest{Term: term, PrevLogEntry: 1, PrevLogTerm: 1, Entries: []*raft.Log{entry}})
	learn := func(p Point) {
		m.LearnCommitIndex(p)
		await(t, "raft has taken the message", func() bool { return !m.learning.Load() })
		appended(t, m, raft.AppendEntriesRequest{Term: term, PrevLogEntry: 2, PrevLogTerm: term}) // raft is past it
	}
	for name, p := range map[string]Point{
		"an entry of another term": {Index: 2, EntryTerm: term - 1, Term: term},
		"an entry after the last":  {Index: 3, EntryTerm: term, Term: term},
		"a leader of another term": {Index: 2, EntryTerm: term, Term: term - 1},
		"no entry":                 {Index: 2},
	} {
		if learn(p); m.raft.CommitIndex() != 0 || m.has("x") {
			t.Fatalf("%s: the commit index is %d, want 0", name, m.raft.CommitIndex())
		}
	}
	learn(Point{Index: 2, EntryTerm: term, Term: term})
	await(t, "the entry is applied", func() bool { return m.has("x") })
	if got := m.raft.CommitIndex(); got != 2 {
		t.Errorf("the commit index is %d, want 2", got)
	}
}

// TestMachineIsToldOfServers: a change of the servers moves the state machine's index, and is in the configuration at once.
func TestMachineIsToldOfServers(t *testing.T) {
	m := start(t, 1)[0]
	m.lead(t)
	m.write(t, "a")
	m.mu.Lock()
	before := m.changes
	m.mu.Unlock()
	index, err := m.SetServer(Server{ID: "n2", Addr: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the change is applied", func() bool { return m.Reached(index) })
	m.mu.Lock()
	after := m.changes
	m.mu.Unlock()
	if after != before+1 {
		t.Errorf("the machine was told of %d changes, want 1", after-before)
	}
	if all := m.Servers(); len(all) != 2 || all[1] != (Server{ID: "n2", Addr: "127.0.0.1:1"}) {
		t.Errorf("the servers are %+v", all)
	}
	if others, needed := m.Voters(); len(others) != 0 || needed != 0 {
		t.Errorf("other voters %+v, of which %d are needed; a non-voter is none", others, needed)
	}
	if _, err := m.RemoveServer("n2"); err != nil {
		t.Fatal(err)
	}
	if all := m.Servers(); len(all) != 1 {
		t.Errorf("after n2 was removed the servers are %+v", all)
	}
}

// TestSnapshotKeepsEntries: a snapshot leaves as many entries behind it as it was told, also if no entry came since the last
// one. Before the first entry no snapshot is written.
func TestSnapshotKeepsEntries(t *testing.T) {
	m := start(t, 1)[0]
	if err := m.Replica.Snapshot(5); err != nil {
		t.Errorf("of an empty log: %v", err)
	}
	m.lead(t)
	for range 20 {
		m.write(t, "a")
	}
	for range 2 {
		if err := m.Replica.Snapshot(5); err != nil {
			t.Fatal(err)
		}
	}
	first, err := m.store.FirstIndex()
	if err != nil {
		t.Fatal(err)
	}
	if got := m.LastIndex() - first + 1; got != 5 {
		t.Errorf("%d entries stay behind the snapshot, want 5", got)
	}
}

// TestTimeoutsChangeWhileRaftRuns: raft takes longer timeouts while it runs, and none below its lease, which does not change.
func TestTimeoutsChangeWhileRaftRuns(t *testing.T) {
	m := open(t, "n1")
	m.found(t, Server{ID: "n1", Addr: m.mux.Advertise(), Voter: true})
	m.cancel() // nothing else changes them any more
	m.wg.Wait()
	if err := m.change(func(c *raft.ReloadableConfig) { c.HeartbeatTimeout, c.ElectionTimeout = 2*time.Minute, 2*time.Minute }); err != nil {
		t.Errorf("longer timeouts: %v", err)
	}
	if c := m.raft.ReloadableConfig(); c.HeartbeatTimeout != 2*time.Minute {
		t.Errorf("the heartbeat timeout is %v, want 2m", c.HeartbeatTimeout)
	}
	if err := m.change(func(c *raft.ReloadableConfig) { c.HeartbeatTimeout = time.Second }); err == nil {
		t.Error("a timeout below the lease was accepted: the lease can change as well now")
	}
}

// TestLostLeadershipIsUncertain: an entry whose leader was deposed while it was committed may be in the log of its
// successor. Only errors that come before the log are certain.
func TestLostLeadershipIsUncertain(t *testing.T) {
	for err, want := range map[error]bool{
		raft.ErrLeadershipLost:               false,
		raft.ErrRaftShutdown:                 false,
		errors.New("write log: no space"):    false,
		raft.ErrNotLeader:                    true,
		raft.ErrLeadershipTransferInProgress: true,
		raft.ErrEnqueueTimeout:               true,
		raft.ErrAbortedByRestore:             true,
	} {
		if got := NotLogged(err); got != want {
			t.Errorf("%v: certainly in no log: got %v, want %v", err, got, want)
		}
	}
}

// TestRolesHaveNames: status and metrics show them.
func TestRolesHaveNames(t *testing.T) {
	for r, want := range map[Role]string{Follower: "follower", Candidate: "candidate", Leader: "leader", Shutdown: "shutdown", 9: "shutdown"} {
		if got := r.String(); got != want {
			t.Errorf("role %d is called %q, want %q", r, got, want)
		}
	}
}
