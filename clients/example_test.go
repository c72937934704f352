package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// The example of the docs runs to its end, its signatures checked.
func TestWorkflowExample(t *testing.T) {
	install(t)
	url := "http://" + httpapitest.ServeDelivering(t, 1, "", nil).Addrs[0]
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v2/keys", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+httpapitest.MessagesToken)
	p, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Body.Close()
	var keys struct{ Current, Next string }
	if err := json.NewDecoder(p.Body).Decode(&keys); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	program := exec.CommandContext(ctx, "node", "try.mjs")
	program.Dir = "../docs/examples/workflow-hono"
	program.Env = append(os.Environ(), "QSTASH_URL="+url, "QSTASH_TOKEN="+httpapitest.MessagesToken, "PORT="+freePort(t),
		"QSTASH_CURRENT_SIGNING_KEY="+keys.Current, "QSTASH_NEXT_SIGNING_KEY="+keys.Next)
	output, err := program.CombinedOutput()
	if err != nil || !bytes.Contains(output, []byte(`RUN_SUCCESS {"price":16`)) || !bytes.Contains(output, []byte(`"receipt":"paid 16","by":"ada"`)) {
		t.Fatalf("%v\n%s", err, output)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}
