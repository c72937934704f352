package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
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
