package membership

import (
	"errors"
	"net"
	"testing"

	"github.com/trireme-dev/trireme/cluster/transport"
)

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
