package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

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
