package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/trireme-dev/trireme/workflow"
)

// failingNode answers its first requests with a status, and keeps the deduplication ids of triggers.
type failingNode struct {
	status, failures, requests int
	ids                        map[string]bool
}

func (n *failingNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.requests++
	var items []struct{ Headers map[string]string }
	if json.NewDecoder(r.Body).Decode(&items) == nil && len(items) > 0 {
		n.ids[items[0].Headers["upstash-deduplication-id"]] = true
	}
	if n.requests <= n.failures {
		w.WriteHeader(n.status)
		w.Write([]byte(`{"error":"not now"}`))
		return
	}
	w.Write([]byte("[]"))
}

// TestRepeats: a request that may be sent twice is repeated while the reason of its failure may pass, and no other one is; a trigger has one
// deduplication id for all its requests.
func TestRepeats(t *testing.T) {
	trigger := func(ctx context.Context, c *workflow.Client) error {
		_, err := c.Trigger(ctx, []byte("{}"), workflow.RunOptions{URL: "http://app/w"})
		return err
	}
	notify := func(ctx context.Context, c *workflow.Client) error {
		_, err := c.Notify(ctx, "event", nil)
		return err
	}
	waiters := func(ctx context.Context, c *workflow.Client) error {
		_, err := c.Waiters(ctx, "event")
		return err
	}
	for _, c := range []struct {
		what             string
		send             func(context.Context, *workflow.Client) error
		status, failures int
		requests, fails  int
	}{
		{"a trigger", trigger, 503, 2, 3, 0}, {"a trigger for good", trigger, 503, 9, 4, 503}, {"a wrong trigger", trigger, 400, 1, 1, 400},
		{"a list", waiters, 429, 1, 2, 0}, {"a notification", notify, 503, 1, 1, 503},
	} {
		n := &failingNode{status: c.status, failures: c.failures, ids: map[string]bool{}}
		server := httptest.NewServer(n)
		err := c.send(t.Context(), workflow.NewClient(workflow.Options{URL: server.URL, Token: "x"}))
		server.Close()
		if n.requests != c.requests || len(n.ids) > 1 || n.ids[""] {
			t.Errorf("%s: %d requests with the ids %v", c.what, n.requests, n.ids)
		}
		refusal, refused := errors.AsType[*workflow.APIError](err)
		if (err != nil) != (c.fails != 0) || c.fails != 0 && (!refused || refusal.Status != c.fails || refusal.Message != "not now") {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
