package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cli/doctor"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/internal/certs"
)

func peer(t *testing.T, all []cluster.PeerReport, id string) cluster.PeerReport {
	t.Helper()
	for _, p := range all {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("%s is not among %+v", id, all)
	return cluster.PeerReport{}
}

var errOneWay = errors.New("this way is cut")

// TestExamineLooksBothWays: nodes reach one another; then one can't call another any
// more, which both sides find, each from its own end.
func TestExamineLooksBothWays(t *testing.T) {
	var cut atomic.Bool // n3 calls n1
	var first atomic.Value
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		o.Version = "v-" + o.NodeID
		first.Store(o.InitialCluster[0].Addr)
		if o.NodeID != "n3" {
			return
		}
		o.Dial = func(network, addr string, d time.Duration) (net.Conn, error) {
			if cut.Load() && addr == first.Load() {
				return nil, errOneWay
			}
			return net.DialTimeout(network, addr, d)
		}
	})
	for i, n := range c.Nodes {
		eventually(t, fmt.Sprintf("n%d and the others reach one another", i+1), func() bool {
			all := n.Examine(t.Context())
			return len(all) == 2 && well(all[0]) && well(all[1])
		})
		for _, p := range n.Examine(t.Context()) {
			if p.Version != "v-"+p.ID && p.There.Err == nil || p.Suffrage != "voter" {
				t.Errorf("n%d finds %+v", i+1, p)
			}
			if p.Offset.Abs() > p.Blur+5*time.Millisecond { // it is the same clock
				t.Errorf("n%d finds the clock of %s %s off, give or take %s", i+1, p.ID, p.Offset, p.Blur)
			}
		}
	}
	cut.Store(true)
	eventually(t, "n1 finds that n3 doesn't reach it", func() bool {
		p := peer(t, c.Nodes[0].Examine(t.Context()), "n3")
		return p.There.Err == nil && p.Back.Err != nil && strings.Contains(p.Back.Err.Error(), errOneWay.Error())
	})
	if p := peer(t, c.Nodes[2].Examine(t.Context()), "n1"); !errors.Is(p.There.Err, errOneWay) {
		t.Errorf("n3 finds %+v", p)
	}
	c.Stop(1)
	if p := peer(t, c.Nodes[0].Examine(t.Context()), "n2"); p.There.Err == nil {
		t.Errorf("n1 finds %+v of a node that is down", p)
	}
}

// well reports whether a node is reached and reaches back.
func well(p cluster.PeerReport) bool {
	return p.There.Err == nil && p.Back.Err == nil && !p.Back.Unasked && p.There.Took > 0 && p.Back.Took > 0
}

// TestSurveyBeforeStart: a node that is down examines the others with its own identity, is reached back, changes
// nothing, and starts as usual.
func TestSurveyBeforeStart(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	c.Stop(2)
	o := cluster.Options{NodeID: "n3", DataDir: c.Dirs[2], Addresses: cluster.Addresses{Bind: c.List[2].Addr}, Entrance: cluster.Entrance{InitialCluster: c.List}}
	eventually(t, "n3, which is down, and the others reach one another", func() bool {
		all, err := cluster.PeerStatuses(t.Context(), o)
		return err == nil && len(all) == 2 && well(all[0]) && well(all[1])
	})
	if _, err := cluster.PeerStatuses(t.Context(), cluster.Options{NodeID: "n9", DataDir: c.Dirs[2], Addresses: cluster.Addresses{Bind: c.List[2].Addr}}); !errors.Is(err, cluster.ErrForeignDirectory) {
		t.Errorf("another node's directory: %v", err)
	}
	o.DataDir = t.TempDir() // as if the disk was wiped
	eventually(t, "n1 refuses n3 with another disk", func() bool {
		all, err := cluster.PeerStatuses(t.Context(), o)
		p := peer(t, all, "n1")
		return err == nil && p.There.Err != nil && strings.Contains(p.There.Err.Error(), cluster.ErrWipedDisk.Error())
	})
	o.DataDir, o.Bind = c.Dirs[2], c.List[0].Addr
	eventually(t, "n3 with a port that is taken reaches n1 and isn't reached", func() bool {
		all, err := cluster.PeerStatuses(t.Context(), o)
		p := peer(t, all, "n1")
		return err != nil && p.There.Err == nil && p.Back.Err != nil
	})
	c.StartAll()
}

// TestSurveyOfANewCluster: nodes that wait for the others of a new cluster are reached, reach back, and don't take the
// examining node for one of them.
func TestSurveyOfANewCluster(t *testing.T) {
	addrs := clustertest.Ports(t, 2)
	list := []cluster.Peer{{ID: "n1", Addr: addrs[0]}, {ID: "n2", Addr: addrs[1]}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := cluster.Open(ctx, cluster.Options{NodeID: "n1", DataDir: t.TempDir(), Addresses: cluster.Addresses{Bind: addrs[0]}, Entrance: cluster.Entrance{InitialCluster: list}})
		ended <- err
	}()
	defer func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("n1 waits for n2: %v", err)
		}
	}()
	o := cluster.Options{NodeID: "n2", DataDir: t.TempDir(), Addresses: cluster.Addresses{Bind: addrs[1]}, Entrance: cluster.Entrance{InitialCluster: list}}
	eventually(t, "n1 and n2 reach one another", func() bool {
		all, err := cluster.PeerStatuses(t.Context(), o)
		return err == nil && len(all) == 1 && well(all[0])
	})
}

// TestNodesTellOfEachOther: each node has the history of all, and reports a node that is down as missing. None warns of
// certificates that the others sign for themselves.
func TestNodesTellOfEachOther(t *testing.T) {
	share := clustertest.WithSecret("a secret of the cluster, for a test")
	c := clustertest.Start(t, 3, func(o *cluster.Options) {
		share(o)
		o.History = func(question []byte) ([]byte, error) { return []byte(string(question) + o.NodeID), nil }
	})
	for i, n := range c.Nodes {
		eventually(t, "all three tell of themselves", func() bool {
			all := n.Histories(t.Context(), []byte("of "))
			if len(all) != 3 || all[0].Node != n.ID() {
				t.Fatalf("node %d has %+v", i+1, all)
			}
			for _, h := range all {
				if h.Err != nil || string(h.Data) != "of "+h.Node {
					return false
				}
			}
			return true
		})
		peers := n.Examine(t.Context())
		for _, f := range doctor.Peers(n.Address(), peers, time.Now()) {
			if f.Check == "certificate" {
				t.Errorf("node %d finds %+v", i+1, f)
			}
		}
		for _, p := range peers {
			if p.There.Err == nil && (!p.Signed || p.From.IsZero() || p.Until.IsZero()) {
				t.Errorf("node %d doesn't see that %s has signed its certificate: %+v", i+1, p.ID, p)
			}
		}
	}
	c.Stop(2)
	for _, h := range c.Nodes[0].Histories(t.Context(), nil) {
		if down := h.Node == "n3"; down != (h.Err != nil) {
			t.Errorf("n1 has of %s: %q, %v", h.Node, h.Data, h.Err)
		}
	}
}

// attacker says of itself whatever it likes, and knows what a node of the cluster knows except its keys.
type attacker struct{ hello transport.Hello }

func (a attacker) Hello() transport.Hello                         { return a.hello }
func (a attacker) Expected(string) string                         { return "" }
func (a attacker) Admit(transport.Hello, transport.Purpose) error { return transport.ErrRejected }
func (a attacker) Verify(string, time.Duration) error             { return nil }
func (a attacker) Excluded(error)                                 {}
func (a attacker) Rejected(net.Addr, error)                       {}
func (a attacker) Handle(_ transport.Hello, _ transport.Kind, _ []byte, answer func([]byte, error)) {
	answer(nil, transport.ErrRejected)
}

// forged returns a hello of a node of c, as a process that the cluster has never seen.
func forged(t *testing.T, c *clustertest.Cluster, i int) transport.Hello {
	t.Helper()
	var id struct {
		Disk    string `json:"disk_id"`
		Cluster string `json:"cluster_id"`
	}
	text, err := os.ReadFile(filepath.Join(c.Dirs[i], "identity.json"))
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if err != nil || id.Disk == "" || id.Cluster == "" {
		t.Fatalf("%s: %v", text, err)
	}
	return transport.Hello{Cluster: id.Cluster, Node: c.List[i].ID, Disk: id.Disk, Arch: runtime.GOARCH, Level: fsm.MaxLevel,
		Processes: []transport.Process{{Boot: 999, Name: "forged"}}}
}

// dialer returns an attacker's end, with the security that it has made for itself.
func dialer(h transport.Hello, s *transport.Security) *transport.Mux {
	return transport.DialOnly(transport.Config{Dial: net.DialTimeout, Security: s}, attacker{h})
}

// works fails the test unless every node writes and reads, also after node 1 has been restarted: then its incarnation
// is compared with the one that the others know.
func works(t *testing.T, c *clustertest.Cluster, key string) {
	t.Helper()
	c.Stop(1)
	c.StartAll()
	for i := range c.Nodes {
		if v, err := c.Write(i, "SET", key, "v"); err != nil || v.IsError() {
			t.Fatalf("node %d: %v, %v", i, v, err)
		}
	}
}

// TestForgedHellosExcludeNobody: hellos in a node's name, with a process that it never was, on connections of every
// purpose. They used to make the others take the real node for an older copy of its disk, which ended it for good.
func TestForgedHellosExcludeNobody(t *testing.T) {
	for name, adjust := range map[string]func(*cluster.Options){"plain": nil, "secret": clustertest.WithSecret(certs.NewSecret())} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.Start(t, 3, adjust)
			h := forged(t, c, 1)
			for i, p := range c.List {
				if i == 1 {
					continue
				}
				for _, what := range []transport.Purpose{transport.ForWatch, transport.ForRPC, transport.ForRaft} {
					conn, err := dialer(h, nil).DialNode("", p.Addr, what, time.Minute)
					if err != nil {
						continue
					}
					if adjust == nil { // the port takes part in it, and must not believe it
						conn.Close()
						continue
					}
					conn.SetReadDeadline(time.Now().Add(time.Minute))
					if b, err := io.ReadAll(conn); len(b) > 0 || err != nil && os.IsTimeout(err) {
						t.Errorf("a plain connection for %q was answered by %q, %v", what, b, err)
					}
					conn.Close()
				}
			}
			works(t, c, "k")
		})
	}
}

// TestForgedRemovalEndsNobody: a caller that has proved nothing tells a node that the cluster has removed it.
func TestForgedRemovalEndsNobody(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	h := forged(t, c, 0)
	h.Processes = nil // the oldest versions have none
	conn, err := dialer(h, nil).DialNode("", c.List[1].Addr, transport.ForRPC, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	rpc, end := transport.Single(conn)
	defer end()
	if _, err := rpc.Ask(t.Context(), cluster.CallRemoved, nil); err != nil {
		t.Fatal(err)
	}
	works(t, c, "k")
}

// securityOf returns the security of a node with a secret.
func securityOf(secret, node string) *transport.Security {
	o := cluster.Options{NodeID: node}
	clustertest.WithSecret(secret)(&o)
	return o.Security
}

// TestProposalsNeedTheSecret: without it nothing reaches the log or is learned of the cluster, whether the caller has no
// TLS or an authority of its own.
func TestProposalsNeedTheSecret(t *testing.T) {
	secret := certs.NewSecret()
	c := clustertest.Start(t, 3, clustertest.WithSecret(secret))
	h := forged(t, c, 1)
	h.Processes = nil
	body := cluster.ProposeBody(fsm.Exec.Code, fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName),
		Rows: [][][]byte{clustertest.Words("ACL", "SETUSER", "intruder", "on", "nopass", "+@all", "~*")}}))
	stranger, other := securityOf(certs.NewSecret(), "n2"), securityOf(secret, "n9")
	for name, s := range map[string]*transport.Security{
		"no TLS":                         nil,
		"an authority of its own":        stranger,
		"one that accepts the cluster's": {Authority: other.Authority, Pair: stranger.Pair},
		"a certificate of another node":  other,
	} {
		for _, kind := range []transport.Kind{cluster.CallPropose, cluster.CallStatus} {
			conn, err := dialer(h, s).DialNode("", c.List[c.Leader()].Addr, transport.ForRPC, time.Minute)
			if err != nil {
				continue
			}
			rpc, end := transport.Single(conn)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if b, err := rpc.Ask(ctx, kind, body); err == nil {
				t.Errorf("%s: call %d was answered by %q", name, kind, b)
			}
			cancel()
			end()
		}
	}
	user, err := c.Read(0, "ACL", "GETUSER", "intruder")
	if err != nil || len(user.Elems()) != 0 {
		t.Errorf("the intruder is %v, %v", user, err)
	}
}
