package triremetest_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/clients/triremetest"
	"github.com/trireme-dev/trireme/workflow"
)

// TestInProcess: a workflow that sleeps a week and waits for an event runs against a server in this process, whose deliveries are signed and
// whose time is the test's; it leaves no goroutine.
func TestInProcess(t *testing.T) {
	t.Run("run", func(t *testing.T) {
		s := triremetest.Start(t)
		for _, v := range s.Environ() {
			name, value, _ := strings.Cut(v, "=")
			t.Setenv(name, value)
		}
		remind := workflow.New("remind", func(c *workflow.Context, name string) (string, error) {
			workflow.Sleep(c, "a week", 7*24*time.Hour)
			reply, err := workflow.Wait[string](c, "the reply", "reply-"+name, time.Hour)
			return reply, err
		})
		app := httptest.NewServer(workflow.Handler(workflow.Options{}, remind))
		defer app.Close()
		client := workflow.NewClient(workflow.Options{AppURL: app.URL})
		run, err := remind.Trigger(t.Context(), client, "ann", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.WaitIdle(t)
		s.Advance(t, 7*24*time.Hour-time.Second)
		if all, err := client.Waiters(t.Context(), "reply-ann"); err != nil || len(all) != 0 {
			t.Error(all, err)
		}
		s.Advance(t, time.Second)
		if all, err := client.Notify(t.Context(), "reply-ann", "yes"); err != nil || len(all) != 1 {
			t.Error(all, err)
		}
		if got, err := remind.Result(t.Context(), client, run.RunID); got != "yes" || err != nil {
			t.Error(got, err)
		}
		if n := len(s.Deliveries(t, "workflowRunId", run.RunID)); n != 3 {
			t.Errorf("%d deliveries", n)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if left := goroutines(t); left == "" {
			return
		}
		time.Sleep(10 * time.Millisecond) // connections end by themselves
	}
	t.Errorf("goroutines are left:\n%s", goroutines(t))
}

// goroutines returns the stacks of this module's goroutines that are no test's.
func goroutines(t *testing.T) string {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 2); err != nil {
		t.Fatal(err)
	}
	var left []string
	for g := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(g, "trireme-dev/trireme/") && !strings.Contains(g, "testing.tRunner") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}
