package clients_test

import (
	"bytes"
	"context"
	"net"
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
	keys := signingKeys(t, url, httpapitest.MessagesToken)
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
