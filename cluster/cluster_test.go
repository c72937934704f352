package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/testgate"
)

// TestWriteAnywhereReadAnywhere writes through one node and reads at once through
// another.
func TestWriteAnywhereReadAnywhere(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	for i := range 600 {
		v := strconv.Itoa(i)
		if got, err := c.Write(i%3, "SET", "k", v); err != nil || !got.Equal(reply.OK()) {
			t.Fatalf("write %d: %v %v", i, got, err)
		}
		if got, err := c.Read((i+1+i/3)%3, "GET", "k"); err != nil || got.Text() != v {
			t.Fatalf("read %d: %q %v", i, got.Text(), err)
		}
	}
}

// TestCountersThroughLeaderChanges counts through all nodes while leaders stop and
// come back: every acknowledged increment is there once.
func TestCountersThroughLeaderChanges(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	increments := startLoad(16, func(client int) (bool, bool) {
		v, err := c.Write(client%3, "INCR", "n")
		return err == nil && !v.IsError(), true
	})
	for range 4 {
		time.Sleep(300 * time.Millisecond)
		if err := c.Nodes[c.Leader()].TransferLeadership(""); err != nil {
			t.Log(err)
		}
	}
	increments.agrees(t, c, 0)
}

// TestTimeFollowsTheClocks: however often leadership changes, cluster time stays at the machines' clocks. Each change
// used to put it 200 ms further ahead.
func TestTimeFollowsTheClocks(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	late := time.Now().Add(2 * time.Minute)
	for i := 0; i < 20; i++ {
		from := c.Leader()
		to := c.List[(from+1)%3].ID
		if err := c.Nodes[from].MoveLeadership(t.Context(), to); err != nil {
			if time.Now().After(late) {
				t.Fatal(err)
			}
			i-- // a busy machine may be too slow for a transfer
			continue
		}
		if _, err := c.Write(i%3, "SET", "k", "v"); err != nil {
			t.Fatal(err)
		}
	}
	at := c.Nodes[c.Leader()].Machine().Clock()
	if ahead := at - time.Now().UnixMilli(); ahead > 100 {
		t.Errorf("%d ms ahead after twenty changes of leader", ahead)
	}
}

// TestLevelNeedsEveryAnswer: while one server doesn't answer no level is common to all, whatever the others know: its
// version may be too old to follow.
func TestLevelNeedsEveryAnswer(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	leader := c.Leader()
	if level := c.Nodes[leader].CommonLevel(t.Context()); level != fsm.MaxLevel {
		t.Errorf("all answer: level %d, want %d", level, fsm.MaxLevel)
	}
	c.Stop((leader + 1) % 3)
	if level := c.Nodes[leader].CommonLevel(t.Context()); level != 0 {
		t.Errorf("one doesn't answer: level %d", level)
	}
}

// TestOperationsOfALaterLevelAreNotProposed asks a node for an operation that the level in force doesn't have, as one of the next
// version would: it is refused, and the log stays one that every node can apply.
func TestOperationsOfALaterLevelAreNotProposed(t *testing.T) {
	c := clustertest.Start(t, 1, nil)
	n, ctx := c.Nodes[0], context.Background()
	if _, err := n.Propose(ctx, 95, nil); !errors.Is(err, fsm.ErrFeatureLevel) {
		t.Errorf("got %v, want %v", err, fsm.ErrFeatureLevel)
	}
	if v, err := c.Write(0, "SET", "k", "v"); err != nil || v.IsError() {
		t.Errorf("afterwards: %v, %v", v, err)
	}
}

// TestNoPort: a node that is its whole cluster listens nowhere, and comes back from a directory that it had with a port.
func TestNoPort(t *testing.T) {
	closed := false
	c := clustertest.Start(t, 1, func(o *cluster.Options) { o.NoPort = closed })
	if _, err := c.Write(0, "SET", "k", "v"); err != nil {
		t.Fatal(err)
	}
	c.Stop(0)
	closed = true
	c.StartAll()
	if conn, err := net.DialTimeout("tcp", c.List[0].Addr, time.Second); err == nil {
		conn.Close()
		t.Error("the cluster port is open")
	}
	if v, err := c.Read(0, "GET", "k"); err != nil || v.Text() != "v" {
		t.Errorf("read %v, %v", v, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if s := c.Nodes[0].Status(ctx); len(s.Nodes) != 1 || s.Nodes[0].State != "leader" {
		t.Errorf("status is %+v", s)
	}
}

// TestProcessThatCannotEnd stops a leader in a process that does not end, like one with a thread that waits for a dead disk.
// It goes on sending heartbeats, so no timeout replaces it: the others find its port closed.
func TestProcessThatCannotEnd(t *testing.T) {
	c := clustertest.Start(t, 3, func(o *cluster.Options) { o.Fatal = func(string) {} })
	c.WaitReady()
	old := c.Leader()
	c.Nodes[old].Fail("a disk that answers nothing")
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		for i, n := range c.Nodes {
			if i != old && n.IsLeader() {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatal("no other node leads")
		}
	}
}

// TestUnheardLeaderIsReplaced: nodes that are cut off from the leader agree that they hear nothing from it, and do not
// wait for raft's timer. On a machine that is too busy for that the timer may be first: then the test cuts off the next
// leader.
func TestUnheardLeaderIsReplaced(t *testing.T) {
	network := clustertest.NewNetwork()
	c := clustertest.Start(t, 3, network.Adjust)
	for begin := time.Now(); ; {
		leader := c.Leader()
		network.Cut(c.List[leader].ID)
		next := leader
		for next == leader {
			if time.Since(begin) > time.Minute {
				t.Fatal("no election in a minute was one of nodes that heard nothing")
			}
			time.Sleep(time.Millisecond)
			next = c.Leader()
		}
		agreed := c.Nodes[next].AgreedOnSilence()
		network.Heal(c.List[leader].ID)
		c.WaitReady()
		if agreed {
			return
		}
	}
}

// TestClockFollowsTheVoters: a leader's cluster time follows the median of the voters' wall clocks after the term was opened
// without one. The first median sets it forward, and so does a later one that is far ahead. While it is ahead of the median it is
// slower by a tenth, and wall time waits.
func TestClockFollowsTheVoters(t *testing.T) {
	ahead := map[string]*atomic.Int64{"n1": {}, "n2": {}, "n3": {}} // of each node's clock
	ahead["n2"].Store(int64(time.Hour))                             // no two of them agree
	ahead["n3"].Store(int64(2 * time.Hour))
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		mine := ahead[o.NodeID]
		o.Now = func() time.Time { return time.Now().Add(time.Duration(mine.Load())) }
	})
	leader := c.Leader()
	n := c.Nodes[leader]
	others := func(offset time.Duration) {
		for i, p := range c.List {
			if i != leader {
				ahead[p.ID].Store(int64(offset))
			}
		}
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
			n = c.Nodes[c.Leader()] // another one, if this machine has stood still for too long
			if time.Now().After(end) {
				t.Fatalf("%s: cluster time is %v ahead", what, time.UnixMilli(n.Now()).Sub(time.Now()))
			}
		}
	}
	if now := n.Now(); now > time.Now().Add(3*time.Hour).UnixMilli() {
		t.Fatal("cluster time begins ahead of every clock")
	}
	others(10 * time.Hour)
	until("not set forward", func() bool { return n.Now() > time.Now().Add(9*time.Hour).UnixMilli() })
	others(20 * time.Hour)
	until("not set forward within the term", func() bool { return n.Now() > time.Now().Add(19*time.Hour).UnixMilli() })
	others(5 * time.Hour)
	var began, read time.Time
	var before, went int64
	until("not slowed down", func() bool {
		began, before = time.Now(), n.Now()
		time.Sleep(500 * time.Millisecond) // in which one that is not slower goes on by as much
		went, read = n.Now()-before, time.Now()
		return went < read.Sub(began).Milliseconds()*95/100
	})
	if went < 400 {
		t.Errorf("cluster time went by %d ms in %v", went, read.Sub(began))
	}
	until("wall time does not wait", func() bool {
		var at env.Time
		_, err := n.Read(t.Context(), fsm.Reading{}, func(v *fsm.View) { at = v.Time() })
		return err == nil && at.Now-at.Wall > 300
	})
}

// TestFollowerCatchesUpFromTheLog stops a follower while the others write and take snapshots. As long as their log still
// has what it missed, it gets no copy of the state; with a log that is cut right behind each snapshot it gets one.
func TestFollowerCatchesUpFromTheLog(t *testing.T) {
	for _, r := range []struct {
		name     string
		trailing uint64 // 0 = the default
		copies   int64
	}{{"the log has it", 0, 0}, {"the log was cut", 10, 1}} {
		t.Run(r.name, func(t *testing.T) {
			var copies atomic.Int64 // of the state that the last node got
			c := clustertest.Start(t, 3, func(o *cluster.Options) {
				o.TrailingLogs = r.trailing
				if o.NodeID == "n3" {
					o.Machine = fsm.NewMachine()
					o.Machine.Hooks.Restored = func() { copies.Add(1) }
				}
			})
			write := func(n int) {
				t.Helper()
				for i := range n {
					if _, err := c.Write(i%2, "APPEND", fmt.Sprintf("key:%d", i%50), "value"); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(20)
			c.Stop(2)
			for range 2 { // the second snapshot removes what the first one left
				write(100)
				for _, n := range c.Nodes[:2] {
					if err := n.Snapshot(); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(20)
			if own, err := os.ReadDir(filepath.Join(c.Dirs[2], "snapshots")); err != nil || len(own) > 0 {
				t.Fatalf("the follower has snapshots of its own, which it reads first: %v, %v", own, err)
			}
			c.StartAll()
			oneDigest(t, c)
			if n := copies.Load(); n != r.copies {
				t.Errorf("the follower got %d copies of the state, want %d", n, r.copies)
			}
		})
	}
}

// TestSnapshotAfterBytes checks that a node takes a snapshot after the configured bytes of log, and the next one after
// as many as the last one has.
func TestSnapshotAfterBytes(t *testing.T) {
	c := clustertest.Start(t, 1, func(o *cluster.Options) { o.SnapshotBytes = 1 << 10 })
	value := strings.Repeat("v", 2<<10)
	count := func() int {
		all, err := filepath.Glob(filepath.Join(c.Nodes[0].SnapshotDir(), "*", "state.bin"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	for wanted := 1; wanted <= 2; wanted++ { // a node keeps two
		eventually(t, "a snapshot", func() bool {
			if _, err := c.Write(0, "SET", "k", value); err != nil {
				t.Fatal(err)
			}
			return count() >= wanted
		})
	}
}

// TestCloseWhileEntriesAreUnderWay: raft drops what it has queued for the state machine when it ends, and answers none of it. A node
// that is closed then ends nevertheless, and so do the calls that wait for their writes, and for entries of the leader's own.
func TestCloseWhileEntriesAreUnderWay(t *testing.T) {
	for range 3 { // whether raft drops the second entry is up to the scheduler
		proceed := testgate.New(t)
		c := clustertest.Start(t, 1, func(o *cluster.Options) {
			o.Machine = fsm.NewMachine()
			o.Machine.Hooks.Notifications = func([]env.Notification) { proceed.Wait() }
		})
		n := c.Nodes[0]
		n.Machine().Track(true)
		c.Nodes[0] = nil // the cluster doesn't close it again
		write := func(words ...string) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := clustertest.WriteTo(n, words...)
				done <- err
			}()
			return done
		}
		writes := []<-chan error{write("SET", "touched", "v")}
		proceed.Reached(1)
		writes = append(writes, write("SET", "k", strings.Repeat("v", 100_000)))
		for end := time.Now().Add(time.Minute); n.Pending() < 2 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		const ticks = 8 // so that some are dropped
		last := n.LastIndex()
		for range ticks {
			done := make(chan error, 1)
			go func() { done <- n.Tick() }()
			writes = append(writes, done)
		}
		for end := time.Now().Add(time.Minute); n.LastIndex() < last+ticks && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		closed, over := make(chan struct{}), cancelled()
		go func() {
			defer close(closed)
			_ = n.Close(over)
		}()
		for end := time.Now().Add(time.Minute); n.IsLeader() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		proceed.Open()
		await(t, "the node is closed", closed)
		for _, w := range writes {
			select {
			case <-w: // done, or unknown
			case <-time.After(time.Minute):
				t.Fatal("a write waits for a node that is closed")
			}
		}
	}
}

// TestLeadershipGoesToAVoterThatAnswers takes away the voter that raft would choose, the first of those with equal logs: a leader
// that stops, or is asked to hand over, finds the other one at its first try.
func TestLeadershipGoesToAVoterThatAnswers(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	if leader := c.Leader(); leader != 2 {
		if err := c.Nodes[leader].MoveLeadership(t.Context(), c.List[2].ID); err != nil {
			t.Fatal(err)
		}
	}
	gone := c.Nodes[0]
	c.Nodes[0] = nil
	_ = gone.Close(cancelled())
	end := time.Now().Add(time.Minute)
	for !c.Nodes[2].IsLeader() { // on a busy machine it may have lost its leadership to the other
		if time.Now().After(end) {
			t.Fatalf("%s does not lead", c.List[2].ID)
		}
		_ = c.Nodes[1].TransferLeadership(c.List[2].ID)
		time.Sleep(time.Millisecond)
	}
	if err := c.Nodes[2].TransferLeadership(""); err != nil && c.Nodes[2].IsLeader() {
		t.Errorf("leadership was not transferred: %v", err)
	}
	for ; !c.Nodes[1].IsLeader(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not lead", c.List[1].ID)
		}
	}
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("waited in vain until %s", what)
	}
}

// asToken asks node i on behalf of a client with a token, as the HTTP edge does. The node's own state gives the
// identity; the state that is read, or that the entry meets in the log, judges it again.
type asToken struct {
	c     *clustertest.Cluster
	token acl.Bearer
}

var errNobody = errors.New("the token opens nothing")

func (at asToken) identity(i int) (as acl.Identity) {
	at.c.Nodes[i].Machine().View(0, [16]byte{}, func(v *fsm.View) { as = v.Bearer("", &at.token) })
	return as
}

// write writes as a token. It fails with errNobody if this node knows no such token, and with fsm.ErrRevoked if the log
// doesn't.
func (at asToken) write(i int, as acl.Identity) error {
	if as.By == acl.Nobody {
		return errNobody
	}
	_, err := fsm.Do(context.Background(), at.c.Nodes[i], fsm.Exec, fsm.Batch{As: as, Origin: command.OriginHTTP, Rows: [][][]byte{clustertest.Words("INCR", "n")}})
	return err
}

func (at asToken) read(i int, as acl.Identity) (err error) {
	_, failed := at.c.Nodes[i].Read(context.Background(), fsm.Reading{}, func(v *fsm.View) {
		if !v.Authorized(as) {
			err = fsm.ErrRevoked
		}
	})
	return errors.Join(err, failed)
}

func tokens(name, standard, readOnly string) fsm.DatabaseTokens {
	return fsm.DatabaseTokens{Name: name, Standard: acl.DigestOf(standard), ReadOnly: acl.DigestOf(readOnly)}
}

func startWithToken(t *testing.T, network *clustertest.Network) (*clustertest.Cluster, asToken) {
	c := clustertest.Start(t, 3, network.Adjust)
	return c, asToken{c, acl.ParseBearer([]byte(clustertest.Token))}
}

// TestResetRevokesOnEveryNode resets on one node while clients write through all with
// the old token: what they get to start after the acknowledgement is refused everywhere.
func TestResetRevokesOnEveryNode(t *testing.T) {
	c, old := startWithToken(t, clustertest.NewNetwork())
	for round := range 5 {
		token := fmt.Sprintf("token-%d", round)
		var acknowledged time.Time
		var mu sync.Mutex
		var wg sync.WaitGroup
		written := make([]int, 3)
		for i := range c.Nodes {
			wg.Go(func() {
				for end := time.Now().Add(time.Minute); time.Now().Before(end); {
					as, began := old.identity(i), time.Now()
					err := old.write(i, as)
					mu.Lock()
					late := !acknowledged.IsZero() && began.After(acknowledged)
					mu.Unlock()
					switch {
					case err == nil && late:
						t.Errorf("node %d took a write by a revoked token", i)
						return
					case err == nil:
						written[i]++
					case errors.Is(err, fsm.ErrRevoked) || errors.Is(err, errNobody):
						return
					default:
						t.Errorf("node %d: %v", i, err)
						return
					}
				}
				t.Errorf("node %d never refused", i)
			})
		}
		time.Sleep(50 * time.Millisecond) // so that writes are in flight
		if _, err := fsm.Do(context.Background(), c.Nodes[round%3], fsm.ResetTokens, tokens("default", token, "ro-"+token)); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		acknowledged = time.Now()
		mu.Unlock()
		wg.Wait()
		t.Logf("round %d: %v writes before", round, written)
		old.token = acl.ParseBearer([]byte(token))
		for i := range c.Nodes {
			awaitToken(t, old, i)
		}
	}
}

// awaitToken waits until a node, which may be behind, knows the token.
func awaitToken(t *testing.T, a asToken, i int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if a.identity(i).By != acl.Nobody {
			return
		}
	}
	t.Fatalf("node %d doesn't know the token", i)
}

// TestResetWhileANodeIsCutOff resets while one node hears nothing: it still accepts the old token, but none of its
// writes and reads comes through, then or after it has come back.
func TestResetWhileANodeIsCutOff(t *testing.T) {
	network := clustertest.NewNetwork()
	c, old := startWithToken(t, network)
	for _, cutLeader := range []bool{false, true} {
		cut := (c.Leader() + 1) % 3
		if cutLeader {
			cut = c.Leader()
		}
		before := old.identity(cut)
		network.Cut(c.List[cut].ID)
		fresh := fmt.Sprintf("fresh-%v", cutLeader)
		reset(t, c, (cut+1)%3, fresh)
		if old.identity(cut) != before {
			t.Fatal("the node was not cut off")
		}
		// What the cut-off node sends now waits for the others, and meets the reset there.
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := old.write(cut, before); err == nil {
					t.Error("a cut-off node's write by a revoked token was applied")
				}
			})
			wg.Go(func() {
				if err := old.read(cut, before); err == nil {
					t.Error("a cut-off node's read by a revoked token was answered")
				}
			})
		}
		network.Heal(c.List[cut].ID)
		for end := time.Now().Add(time.Minute); old.identity(cut).By != acl.Nobody; {
			if err := old.write(cut, before); err == nil {
				t.Fatal("a node that came back wrote by a revoked token")
			}
			if err := old.read(cut, before); err == nil {
				t.Fatal("a node that came back read by a revoked token")
			}
			if time.Now().After(end) {
				t.Fatal("the node never learned of the reset")
			}
		}
		wg.Wait()
		old.token = acl.ParseBearer([]byte(fresh))
		awaitToken(t, old, cut)
		c.WaitReady()
		if err := old.write(cut, old.identity(cut)); err != nil {
			t.Fatalf("by the new token: %v", err)
		}
	}
}

// reset replaces the tokens through a node that may have to wait for a new leader.
func reset(t *testing.T, c *clustertest.Cluster, i int, token string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		_, err := fsm.Do(context.Background(), c.Nodes[i], fsm.ResetTokens, tokens("default", token, "ro-"+token))
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// session reads on node i as a session read does, on behalf of as.
func (at asToken) session(i int, as acl.Identity) (err error) {
	_, failed := at.c.Nodes[i].Read(context.Background(), fsm.Reading{Mode: fsm.SessionRead}, func(v *fsm.View) {
		err = nil // a read may look twice
		if !v.Authorized(as) {
			err = fsm.ErrRevoked
		}
	})
	return errors.Join(err, failed)
}

// TestSessionReadsOfACutOffNodeEndWithTheReset resets the tokens while one node hears
// nothing and is asked all the time: it serves session reads for a moment, but none that
// began after the reset was acknowledged.
func TestSessionReadsOfACutOffNodeEndWithTheReset(t *testing.T) {
	network := clustertest.NewNetwork()
	c, old := startWithToken(t, network)
	for round := range 2 {
		cut := (c.Leader() + round) % 3 // the leader itself, then a follower
		as := old.identity(cut)
		if err := old.session(cut, as); err != nil {
			t.Fatal(err)
		}
		network.Cut(c.List[cut].ID)
		var acknowledged atomic.Bool
		var served atomic.Int64
		ctx, stop := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					time.Sleep(time.Millisecond)
					late := acknowledged.Load()
					if err := old.session(cut, as); err != nil {
						continue
					}
					served.Add(1)
					if late {
						t.Error("a cut-off node served a session read by a token whose reset had been acknowledged")
						return
					}
				}
			})
		}
		fresh := fmt.Sprintf("session-%d", round)
		reset(t, c, (cut+1)%3, fresh)
		acknowledged.Store(true)
		time.Sleep(200 * time.Millisecond) // for reads that should fail
		network.Heal(c.List[cut].ID)
		c.WaitReady()
		stop()
		wg.Wait()
		t.Logf("%s cut off: %d session reads served before the acknowledgement", c.List[cut].ID, served.Load())
		old.token = acl.ParseBearer([]byte(fresh))
		awaitToken(t, old, cut)
	}
}

// TestSettlingIsQuickWhileAllAnswer: no lease is waited for while all nodes answer.
func TestSettlingIsQuickWhileAllAnswer(t *testing.T) {
	c, old := startWithToken(t, clustertest.NewNetwork())
	best := time.Hour
	for range 50 {
		began := time.Now()
		if err := c.Nodes[0].WaitRevoked(context.Background()); err != nil {
			t.Fatal(err)
		}
		if best = min(best, time.Since(began)); best < cluster.LeaseTime {
			break
		}
	}
	if best >= cluster.LeaseTime {
		t.Fatalf("settling took %v at best", best)
	}
	if err := old.session(1, old.identity(1)); err != nil {
		t.Fatal(err)
	}
}
