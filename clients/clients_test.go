package clients_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"trireme/clients"
	"trireme/httpapi"
	"trireme/httpapi/httpapitest"
)

func TestMain(m *testing.M) {
	setup := exec.Command("./setup.sh")
	setup.Stdout, setup.Stderr = os.Stderr, os.Stderr
	if err := setup.Run(); err != nil {
		os.Stderr.WriteString("clients/setup.sh: " + err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// The client runs against three edges of one state machine: what a cluster looks like
// from outside, without its log.
func TestRedisClient(t *testing.T) {
	engine := httpapitest.New()
	var urls []string
	for range 3 {
		urls = append(urls, "http://"+httpapitest.Serve(t, httpapi.Options{Engine: engine}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	output, err := clients.Redis(ctx, urls, httpapitest.Token)
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// A run that fails must be seen to fail.
func TestRedisClientNoticesFailures(t *testing.T) {
	url := "http://" + httpapitest.Serve(t, httpapi.Options{Engine: httpapitest.New()})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var exit *exec.ExitError
	if output, err := clients.Redis(ctx, []string{url}, "a wrong token"); !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, output)
	}
}
