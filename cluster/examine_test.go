package cluster_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"trireme/cluster"
	"trireme/cluster/clustertest"
	"trireme/doctor"
)

func peer(t *testing.T, all []doctor.Peer, id string) doctor.Peer {
	t.Helper()
	for _, p := range all {
		if p.ID == id {
			return p
		}
	}
	t.Fatalf("%s is not among %+v", id, all)
	return doctor.Peer{}
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
		all := n.Examine(t.Context())
		if len(all) != 2 {
			t.Fatalf("n%d examines %+v", i+1, all)
		}
		for _, p := range all {
			if p.There.Err != nil || p.Back.Err != nil || p.Back.Unasked || p.There.Took <= 0 || p.Back.Took <= 0 || p.Version != "v-"+p.ID || p.Suffrage != "voter" || p.Level != 1 {
				t.Errorf("n%d finds %+v", i+1, p)
			}
			if p.Offset.Abs() > p.Blur+5*time.Millisecond { // it is the same clock
				t.Errorf("n%d finds the clock of %s %s off, give or take %s", i+1, p.ID, p.Offset, p.Blur)
			}
		}
	}
	cut.Store(true)
	if p := peer(t, c.Nodes[0].Examine(t.Context()), "n3"); p.There.Err != nil || p.Back.Err == nil || !strings.Contains(p.Back.Err.Error(), errOneWay.Error()) {
		t.Errorf("n1 finds %+v", p)
	}
	if p := peer(t, c.Nodes[2].Examine(t.Context()), "n1"); !errors.Is(p.There.Err, errOneWay) {
		t.Errorf("n3 finds %+v", p)
	}
	c.Stop(1)
	if p := peer(t, c.Nodes[0].Examine(t.Context()), "n2"); p.There.Err == nil {
		t.Errorf("n1 finds %+v of a node that is down", p)
	}
}

// TestSurveyBeforeStart: a node that is down looks around with its own identity, is
// reached back, changes nothing, and starts as ever.
func TestSurveyBeforeStart(t *testing.T) {
	c := clustertest.Start(t, 3, nil)
	c.Stop(2)
	o := cluster.Options{NodeID: "n3", DataDir: c.Dirs[2], Bind: c.List[2].Addr, InitialCluster: c.List}
	all, err := cluster.Survey(t.Context(), o)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, p := range all {
		if p.There.Err != nil || p.Back.Err != nil || p.Back.Took <= 0 {
			t.Errorf("n3 finds %+v", p)
		}
	}
	if _, err := cluster.Survey(t.Context(), cluster.Options{NodeID: "n9", DataDir: c.Dirs[2], Bind: c.List[2].Addr}); !errors.Is(err, cluster.ErrForeignDirectory) {
		t.Errorf("another node's directory: %v", err)
	}
	o.DataDir = t.TempDir() // as if the disk was wiped
	all, err = cluster.Survey(t.Context(), o)
	if p := peer(t, all, "n1"); err != nil || p.There.Err == nil || !strings.Contains(p.There.Err.Error(), cluster.ErrWipedDisk.Error()) {
		t.Errorf("with another disk n3 finds %+v, %v", p, err)
	}
	o.DataDir, o.Bind = c.Dirs[2], c.List[0].Addr
	all, err = cluster.Survey(t.Context(), o)
	if p := peer(t, all, "n1"); err == nil || p.There.Err != nil || p.Back.Err == nil {
		t.Errorf("with a port that is taken n3 finds %+v, %v", p, err)
	}
	c.StartAll()
}

// TestSurveyOfANewCluster: those that wait for the others of a new cluster are reached,
// reach back, and don't take who looks around for one of them.
func TestSurveyOfANewCluster(t *testing.T) {
	addrs := clustertest.Ports(t, 2)
	list := []cluster.Peer{{ID: "n1", Addr: addrs[0]}, {ID: "n2", Addr: addrs[1]}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := cluster.Open(ctx, cluster.Options{NodeID: "n1", DataDir: t.TempDir(), Bind: addrs[0], InitialCluster: list})
		ended <- err
	}()
	defer func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("n1 waits for n2: %v", err)
		}
	}()
	o := cluster.Options{NodeID: "n2", DataDir: t.TempDir(), Bind: addrs[1], InitialCluster: list}
	eventually(t, "n1 and n2 reach one another", func() bool {
		all, err := cluster.Survey(t.Context(), o)
		return err == nil && len(all) == 1 && all[0].There.Err == nil && all[0].Back.Err == nil && !all[0].Back.Unasked
	})
}
