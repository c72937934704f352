package clients_test

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients"
	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// install makes sure of the client's packages; a machine without Node.js skips.
func install(t *testing.T) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the client tests need %s: %v", program, err)
		}
	}
	if output, err := exec.CommandContext(t.Context(), "./setup.sh").CombinedOutput(); err != nil {
		t.Fatalf("setup.sh: %v\n%s", err, output)
	}
}

// The client runs against three edges of one state machine, with the token of each kind:
// what a cluster looks like from outside, without its log.
func TestRedisClient(t *testing.T) {
	install(t)
	engine := httpapitest.New()
	var urls []string
	for range 3 {
		urls = append(urls, "http://"+httpapitest.Serve(t, httpapi.Options{Engine: engine}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	kinds, err := clients.Kinds(ctx, urls[0], httpapitest.Token, httpapitest.ReadOnlyToken, httpapitest.AdminToken)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		t.Run(k.Name, func(t *testing.T) {
			if output, err := k.Run(ctx, urls); err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
		})
	}
}

// A run that fails must be seen to fail.
func TestRedisClientNoticesFailures(t *testing.T) {
	install(t)
	url := "http://" + httpapitest.Serve(t, httpapi.Options{Engine: httpapitest.New()})
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	var exit *exec.ExitError
	if output, err := clients.Redis(ctx, []string{url}, "a wrong token"); !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, output)
	}
}

// Every method of the client, and what is published on top of it, against three real nodes.
func TestRedisMethods(t *testing.T) {
	install(t)
	nodes := httpapitest.ServeNodes(t, 3, nil)
	urls := make([]string, len(nodes.Addrs))
	for i, addr := range nodes.Addrs {
		urls[i] = "http://" + addr
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	for _, program := range []func(context.Context, []string, string) ([]byte, error){clients.Methods, clients.Search, clients.Limits} {
		if output, err := program(ctx, urls, httpapitest.Token); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
	}
}

// The search program has to see its own writes while leadership moves from node to node.
func TestSearchWhileLeadersChange(t *testing.T) {
	install(t)
	nodes := httpapitest.ServeNodes(t, 3, nil)
	urls := make([]string, len(nodes.Addrs))
	for i, addr := range nodes.Addrs {
		urls[i] = "http://" + addr
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	done, moved := make(chan struct{}), make(chan int, 1)
	go func() {
		n := 0
		for ended := false; !ended && n < 5; {
			select {
			case <-done:
				ended = true
			default:
				if nodes.Nodes[0].MoveLeadership(ctx, "") == nil {
					n++
				}
			}
		}
		moved <- n
	}()
	output, err := clients.Search(ctx, urls, httpapitest.Token)
	close(done)
	if n := <-moved; n == 0 {
		t.Error("leadership never moved")
	}
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
