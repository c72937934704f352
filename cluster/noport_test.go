package cluster_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
)

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
