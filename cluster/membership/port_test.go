package membership

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestKeyLogExplainsRejections(t *testing.T) {
	out := &bytes.Buffer{}
	k := &keyLog{inner: out, logged: map[string]time.Time{}}
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
