package membership

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster/transport"
)

func openMembers(t *testing.T, id, cluster string, key []byte, seeds ...string) *Members {
	t.Helper()
	m, err := OpenMembers(MembersOptions{
		NodeID: id, ClusterID: cluster, Bind: "127.0.0.1:0", Key: key, HTTP: "127.0.0.1:1", Version: "v1", Level: 1,
		Seeds:  func(context.Context) []string { return seeds },
		Logger: log.New(io.Discard, "", 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// awaitMembers returns when m sees exactly the nodes of ids.
func awaitMembers(t *testing.T, m *Members, ids ...string) {
	t.Helper()
	var seen []Member
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		seen = m.List()
		same := len(seen) == len(ids)
		for i := range seen {
			same = same && seen[i].ID == ids[i]
		}
		if same {
			return
		}
	}
	t.Fatalf("members are %v, want %v", seen, ids)
}

func TestMembersFindEachOther(t *testing.T) {
	key := []byte("0123456789abcdef")
	a := openMembers(t, "n1", "one", key)
	b := openMembers(t, "n2", "one", key, a.Addr())
	c := openMembers(t, "n3", "one", key, b.Addr())
	for _, m := range []*Members{a, b, c} {
		awaitMembers(t, m, "n1", "n2", "n3")
	}
	if got := a.List()[1]; got != (Member{ID: "n2", Cluster: "one", HTTP: "127.0.0.1:1", Version: "v1", Level: 1}) {
		t.Errorf("n1 knows n2 as %+v", got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	awaitMembers(t, a, "n1", "n3")
}

func TestMembersOfAnotherClusterAreRefused(t *testing.T) {
	a := openMembers(t, "n1", "one", nil)
	for name, stranger := range map[string]*Members{
		"another label": openMembers(t, "n2", "two", nil),
		"another key":   openMembers(t, "n3", "one", []byte("0123456789abcdef")),
	} {
		if err := stranger.Join([]string{a.Addr()}); err == nil {
			t.Errorf("%s: the join was taken", name)
		}
	}
	awaitMembers(t, a, "n1")
}

// The label keeps strangers away by itself; the delegate is for those who got past it.
func TestDelegateRefusesStrangers(t *testing.T) {
	a := openMembers(t, "n1", "one", nil)
	b := openMembers(t, "n2", "two", nil)
	ours, theirs := &delegate{cluster: "one"}, b.list.LocalNode()
	if err := ours.NotifyAlive(theirs); err == nil {
		t.Error("a stranger is taken as alive")
	}
	if err := ours.NotifyMerge(append(a.list.Members(), theirs)); err == nil {
		t.Error("a list with a stranger in it is merged")
	}
	if err := ours.NotifyMerge(a.list.Members()); err != nil {
		t.Errorf("a list of our own is refused: %v", err)
	}
}

func TestKeyLogExplainsRejections(t *testing.T) {
	out := &bytes.Buffer{}
	k := &keyLog{inner: out}
	for _, line := range []string{
		"[ERR] memberlist: Failed to send gossip to 127.0.0.1:7091: write udp 127.0.0.1:7092->127.0.0.1:7091: use of closed network connection\n",
		"[ERR] memberlist: Decrypt packet failed: no installed keys could decrypt the message\n",
		"[ERR] memberlist: Decrypt packet failed: no installed keys could decrypt the message\n",
	} {
		if n, err := k.Write([]byte(line)); n != len(line) || err != nil {
			t.Errorf("%q: %d, %v", line, n, err)
		}
	}
	got := out.String()
	if strings.Contains(got, "closed network") {
		t.Errorf("the end of our own port is logged: %s", got)
	}
	if strings.Count(got, "its gossip key is not this node's") != 1 || strings.Count(got, "Decrypt packet failed") != 3 {
		t.Errorf("a reason is logged once in a while, memberlist's own line each time: %s", got)
	}
}

// TestDiscoveryIsSealed: a caller without the key, or with another one, learns nothing but the reason.
func TestDiscoveryIsSealed(t *testing.T) {
	key, other := []byte("0123456789abcdef"), []byte("fedcba9876543210")
	told := Discovery{Cluster: "one", Servers: []Peer{{"n1", "h:1"}}}
	for name, c := range map[string]struct {
		theirs, ours []byte
		want         error
	}{
		"no keys": {nil, nil, nil}, "the same key": {key, key, nil}, "another key": {key, other, ErrGossipKey},
		"no key here": {key, nil, ErrGossipKey}, "no key there": {nil, key, ErrGossipKey},
	} {
		here, there := net.Pipe()
		go func() {
			defer here.Close()
			if what, err := transport.ReadHead(here); err == nil && what == transport.ForDiscovery {
				_ = answerDiscovery(here, c.theirs, told) // judged by what arrives
			}
		}()
		got, err := AskDiscovery(there, c.ours)
		if !errors.Is(err, c.want) || (c.want == nil && (err != nil || got.Cluster != "one" || len(got.Servers) != 1)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		there.Close()
	}
}
