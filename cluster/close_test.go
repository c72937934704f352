package cluster_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/internal/testgate"
)

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
		t.Errorf("leadership was not handed over: %v", err)
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
