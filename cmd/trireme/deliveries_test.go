package main

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/cluster/clustertest"
	"github.com/trireme-dev/trireme/fsm/backoff"
	"github.com/trireme-dev/trireme/scheduler/egress"
)

func deliveryDefaults() deliverySettings {
	return deliverySettings{DefaultRetryDelay: backoff.Default, Senders: 10, TracePropagation: on}
}

func TestDeliverySettings(t *testing.T) {
	t.Setenv("TRIREME_API_MY_LLM_TOKEN", "secret")
	d := deliveryDefaults()
	d.APIs, d.EgressAllow, d.EgressProxy = []string{"my-llm=https://llm.example/v1?a=b", "mail=http://mail.example"}, []string{"10.0.0.0/8", "::1"}, "http://proxy.example:3128"
	got, err := d.parse()
	if err != nil {
		t.Fatal(err)
	}
	if got.apis["my-llm"] != "https://llm.example/v1?a=b" || got.tokens["my-llm"] != "secret" || got.tokens["mail"] != "" || len(got.allow) != 2 || got.proxy.Host != "proxy.example:3128" {
		t.Errorf("%+v", got)
	}
}

func TestDeliverySettingsRefuse(t *testing.T) {
	for want, change := range map[string]func(*deliverySettings){
		"--default-retry-delay": func(d *deliverySettings) { d.DefaultRetryDelay = "soon" },
		"--egress-allow":        func(d *deliverySettings) { d.EgressAllow = []string{"everywhere"} },
		"--egress-proxy":        func(d *deliverySettings) { d.EgressProxy = "socks5://x" },
		"--egress-dns":          func(d *deliverySettings) { d.EgressDNS = "9.9.9.9" },
		"--egress-ca":           func(d *deliverySettings) { d.EgressCA = filepath.Join(t.TempDir(), "none") },
		"--senders":             func(d *deliverySettings) { d.Senders = 0 },
		"--api":                 func(d *deliverySettings) { d.APIs = []string{"llm"} },
		"must be https":         func(d *deliverySettings) { d.APIs, d.EgressHTTPSOnly = []string{"llm=HTTP://a.example"}, true },
	} {
		d := deliveryDefaults()
		change(&d)
		if _, err := d.parse(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestSigningKeysGoTogether(t *testing.T) {
	t.Setenv("TRIREME_CURRENT_SIGNING_KEY", "sig_a")
	if k, err := givenKeys(secretVariable); err == nil {
		t.Errorf("%+v", k)
	}
	t.Setenv("TRIREME_NEXT_SIGNING_KEY", "sig_b")
	if k, err := givenKeys(secretVariable); err != nil || k.Current != "sig_a" || k.Next != "sig_b" {
		t.Errorf("%+v, %v", k, err)
	}
}

// TestAddressesAreRefusedEarly holds the text that clients of the reference service know.
func TestAddressesAreRefusedEarly(t *testing.T) {
	d := &deliveries{policy: &egress.Policy{}}
	for host, want := range map[string]string{
		"127.0.0.1": "endpoint resolves to a loopback address: 127.0.0.1", "::1": "endpoint resolves to a loopback address: ::1",
		"localhost": "endpoint resolves to a loopback address: 127.0.0.1", "10.0.0.1": "endpoint resolves to a private address: 10.0.0.1",
		"1.1.1.1": "", "example.com": "",
	} {
		got := ""
		if err := d.checkEgress(host); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q; want %q", host, got, want)
		}
	}
}

func TestSelfAddressesAreResolved(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:7000": "127.0.0.1:7000", "[::1]:7000": "[::1]:7000", ":7000": "127.0.0.1:7000", "0.0.0.0:7000": "127.0.0.1:7000", "localhost:7000": "127.0.0.1:7000",
	} {
		found := false
		for _, at := range resolve(t.Context(), text) {
			found = found || at == netip.MustParseAddrPort(want)
		}
		if !found {
			t.Errorf("%s: %v", text, resolve(t.Context(), text))
		}
	}
	if all := resolve(t.Context(), "off"); len(all) != 0 {
		t.Error(all)
	}
}

// TestReplacedNodesAreNotResolved: a server whose address another one has is not looked up in DNS, where a name that does not
// exist costs every refresh the resolver's time.
func TestReplacedNodesAreNotResolved(t *testing.T) {
	var asked atomic.Int64
	system := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = system })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		asked.Add(1)
		return nil, os.ErrDeadlineExceeded
	}}
	if resolve(t.Context(), cluster.RemovedAddress("n3")); asked.Load() != 0 {
		t.Errorf("%d questions to DNS", asked.Load())
	}
	if resolve(t.Context(), "n3.example:7080"); asked.Load() == 0 {
		t.Error("the resolver of this test sees no question at all")
	}
}

// TestSelfAddressesFollowRESPPorts starts nodes that register RESP ports, and one of them again
// with another.
func TestSelfAddressesFollowRESPPorts(t *testing.T) {
	ports := map[string]string{"n1": "127.0.0.1:6001", "n2": "127.0.0.1:6002", "n3": "127.0.0.1:6003"}
	c := clustertest.Start(t, 3, func(o *cluster.Options) { o.RESP = ports[o.NodeID] })
	own := &selfAddresses{}
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel()
	s := &settings{clientSettings: clientSettings{RESP: "127.0.0.1:6004"}}
	own.refresh(ctx, s, c.Nodes[0])
	if !own.has(netip.MustParseAddrPort(s.RESP)) {
		t.Error("the node's own port is not known")
	}
	following.Go(func() { own.follow(ctx, s, c.Nodes[0]) })
	for _, want := range []string{"127.0.0.1:6001", "127.0.0.1:6002", "127.0.0.1:6003"} {
		known(t, own, want)
	}
	c.Stop(2)
	ports["n3"] = "127.0.0.1:6005"
	c.StartAll()
	known(t, own, "127.0.0.1:6005")
}

// known waits until an address is one of the own.
func known(t *testing.T, own *selfAddresses, want string) {
	t.Helper()
	for end := time.Now().Add(waitTimeout); !own.has(netip.MustParseAddrPort(want)); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s is not known", want)
		}
	}
}
