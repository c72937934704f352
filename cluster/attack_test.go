package cluster_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/cluster/transport"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/internal/certs"
)

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

// TestProposalsNeedTheSecret: without it nothing reaches the log or is learned of the cluster, whether the caller has no
// TLS or an authority of its own.
func TestProposalsNeedTheSecret(t *testing.T) {
	secret := certs.NewSecret()
	c := clustertest.Start(t, 3, clustertest.WithSecret(secret))
	h := forged(t, c, 1)
	h.Processes = nil
	body := cluster.ProposeBody(fsm.Exec.Code, fsm.Exec.Body(fsm.Batch{As: acl.Trusted(acl.DefaultName),
		Rows: [][][]byte{clustertest.Words("ACL", "SETUSER", "intruder", "on", "nopass", "+@all", "~*")}}))
	stranger, err := certs.ParseSecrets(certs.NewSecret())
	if err != nil {
		t.Fatal(err)
	}
	authority, pair, err := certs.FromSecrets(stranger, "n2", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := certs.ParseSecrets(secret)
	if err != nil {
		t.Fatal(err)
	}
	good, other, err := certs.FromSecrets(ours, "n9", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*transport.Security{
		"no TLS":                         nil,
		"an authority of its own":        {Authority: authority, Pair: pair},
		"one that accepts the cluster's": {Authority: good, Pair: pair},
		"a certificate of another node":  {Authority: good, Pair: other},
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
