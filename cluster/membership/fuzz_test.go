package membership

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/hashicorp/memberlist"

	"github.com/trireme-dev/trireme/cluster/transport"
)

// given is a connection whose other side has sent some bytes and reads what it gets.
type given struct {
	net.Conn
	in  io.Reader
	out bytes.Buffer
}

func (g *given) Read(b []byte) (int, error)  { return g.in.Read(b) }
func (g *given) Write(b []byte) (int, error) { return g.out.Write(b) }

// FuzzDiscovery: bytes that strangers send to the gossip port before it distinguishes gossip from discovery, and
// answers of a gossip port to a node that asks which cluster it belongs to. Without the key nothing is learned, and
// nothing is believed.
func FuzzDiscovery(f *testing.F) {
	f.Add([]byte(transport.Magic + "D0123456789abcdef"))
	f.Add([]byte(transport.Magic + "P0123456789abcdef"))
	f.Add([]byte("\x00\x02{}"))
	f.Add([]byte("\x01\x02{}"))
	f.Add([]byte("\x01\x20" + strings.Repeat("a", 32)))
	f.Add([]byte("\x00\xff\xff\xff\x7f"))
	key, told := []byte("0123456789abcdef"), Discovery{Cluster: "cluster-of-ours", Servers: []Peer{{"server-of-ours", "h:1"}}}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &given{in: bytes.NewReader(b)}
		if what, err := transport.ReadHead(c); err == nil && what == transport.ForDiscovery {
			err := answerDiscovery(c, key, told)
			if answered := c.out.Len() > 0; answered != (err == nil) || bytes.Contains(c.out.Bytes(), []byte("ours")) {
				t.Fatalf("answered %q, %v", c.out.Bytes(), err)
			}
		}
		if d, err := AskDiscovery(&given{in: bytes.NewReader(b)}, key); err == nil {
			t.Fatalf("an answer without the key is believed: %+v", d)
		}
		d, err := AskDiscovery(&given{in: bytes.NewReader(b)}, nil)
		if err == nil && (b[0] != discoverOpen || len(d.Cluster)+len(d.Servers) > len(b)*3) { // a byte that is no text becomes three
			t.Fatalf("%q is %+v", b, d)
		}
	})
}

// FuzzMember: announcements of nodes by gossip. Only those that name this cluster are admitted.
func FuzzMember(f *testing.F) {
	own, err := json.Marshal(Member{"n1", "c", "h:1", "v", 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte(`{"cluster":"d"}`))
	f.Add([]byte(`{"cluster":"c","cluster":"d"}`))
	f.Add([]byte(`{"level":-1,"cluster":"c"}`))
	f.Fuzz(func(t *testing.T, meta []byte) {
		d, around := &delegate{cluster: "c"}, newRoster()
		n := &memberlist.Node{Name: "n9", Addr: net.IPv4(127, 0, 0, 1), Port: 1, Meta: meta}
		var m Member
		named := json.Unmarshal(meta, &m) == nil && m.Cluster == "c"
		if admitted := d.NotifyAlive(n) == nil; admitted != named || admitted != (d.NotifyMerge([]*memberlist.Node{n}) == nil) {
			t.Fatalf("%q is admitted: %v", meta, admitted)
		}
		around.NotifyJoin(n)
		around.NotifyUpdate(n)
		if all := around.members(); len(all) > 1 || named && len(all) == 0 {
			t.Fatalf("%q is listed as %+v", meta, all)
		}
		around.NotifyLeave(n)
		if all := around.members(); len(all) > 0 {
			t.Fatalf("%q has left, and is listed as %+v", meta, all)
		}
	})
}
