package clients_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients"
	"github.com/trireme-dev/trireme/resp/resptest"
)

// Ordinary clients of the Redis protocol run against three real nodes.
func TestRESPClients(t *testing.T) {
	nodes := resptest.Serve(t, 3, nil)
	for _, c := range clients.RESPClients() {
		t.Run(c.Name, func(t *testing.T) {
			for _, program := range c.Needs {
				if program == "npm" {
					install(t)
				} else if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not installed: %v", c.Name, err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
			defer cancel()
			if output, err := c.Run(ctx, nodes.Addrs, resptest.Token); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
		})
	}
}
