package runs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/trireme-dev/trireme/jepsen/testcluster"
	"github.com/trireme-dev/trireme/workflow"
)

// Revive fails runs and resumes them.
type Revive struct {
	Cluster *testcluster.Cluster
	Label   string
	// Steps are finished before the long run fails.
	Steps int
	// Bulk runs are resumed by filter, while Others are being deleted.
	Bulk, Others int
	Patience     time.Duration
}

// ReviveResult is the result of a Revive.
type ReviveResult struct {
	Steps, Again     int // finished steps of the long run, and how many of them ran again
	Made             int // runs made of one dead letter by two resumes
	Bulk, Requests   int // runs resumed in bulk, and the requests that it took
	Deleted, Missing int
}

// String is a line for people.
func (r ReviveResult) String() string {
	return fmt.Sprintf("%d finished steps, %d of them ran again; two resumes of one dead letter made %d run; %d resumed in %d requests while %d were deleted, %d missed",
		r.Steps, r.Again, r.Made, r.Bulk, r.Requests, r.Deleted, r.Missing)
}

// workflows returns workflows that fail for good while broken is set.
func (r Revive) workflows(broken *atomic.Bool) func(*App) []workflow.Definition {
	return func(a *App) []workflow.Definition {
		end := func(c *workflow.Context, _ []byte) (string, error) {
			return workflow.Run(c, "end", func(context.Context) (string, error) {
				if broken.Load() {
					return "", workflow.NonRetryable(errors.New("broken"))
				}
				return "whole", nil
			}), nil
		}
		long := func(c *workflow.Context, payload []byte) (string, error) {
			for i := range r.Steps {
				a.Effect(c, fmt.Sprint("step ", i))
			}
			return end(c, payload)
		}
		return []workflow.Definition{workflow.New("short", end), workflow.New("long", long)}
	}
}

// Run fails and revives.
func (r Revive) Run(ctx context.Context) (out ReviveResult, err error) {
	var broken atomic.Bool
	broken.Store(true)
	a, err := NewApp(r.Cluster, r.workflows(&broken))
	if err != nil {
		return out, err
	}
	defer a.Close()
	letter, err := r.fail(ctx, a, "long", "wfr_"+r.Label+"_long", r.Label+"-long")
	if err != nil {
		return out, err
	}
	count := func(name string, label string, n int) error {
		return all(ctx, n, func(ctx context.Context, i int) error {
			_, err := r.fail(ctx, a, name, fmt.Sprintf("wfr_%s_%s_%d", r.Label, label, i), r.Label+"-"+label)
			return err
		})
	}
	if err := errors.Join(count("short", "bulk", r.Bulk), count("short", "other", r.Others)); err != nil {
		return out, err
	}
	broken.Store(false)
	if err := r.long(ctx, a, letter, &out); err != nil {
		return out, err
	}
	return out, errors.Join(r.bulk(ctx, a, &out), a.Problems())
}

// fail starts a run, waits until it has failed, and returns its dead letter.
func (r Revive) fail(ctx context.Context, a *App, name, id, label string) (string, error) {
	if err := a.Start(ctx, name, id, "{}", map[string]string{"upstash-label": label}); err != nil {
		return "", err
	}
	l, err := a.Ended(ctx, id, r.Patience)
	if err != nil {
		return "", err
	}
	if l.State != "RUN_FAILED" || l.Dead == "" {
		return "", fmt.Errorf("run %s has not failed: %s", id, show(l))
	}
	return l.Dead, nil
}

// runRef is a run that was made.
type runRef struct {
	ID string `json:"workflowRunId"`
}

// long resumes one dead letter twice at once.
func (r Revive) long(ctx context.Context, a *App, letter string, out *ReviveResult) error {
	made := make([]string, 2)
	if err := all(ctx, len(made), func(ctx context.Context, i int) error {
		var ref runRef
		status, err := a.Call(ctx, http.MethodPost, "/v2/workflows/dlq/resume/"+letter, nil, nil, &ref)
		if made[i] = ref.ID; err == nil && status != http.StatusNotFound && status/100 != 2 {
			err = fmt.Errorf("resume: status %d", status)
		}
		return err
	}); err != nil {
		return err
	}
	made = slices.DeleteFunc(made, func(id string) bool { return id == "" })
	if out.Made = len(made); out.Made != 1 {
		return fmt.Errorf("two resumes of %s made %d runs", letter, out.Made)
	}
	l, err := a.Ended(ctx, made[0], r.Patience)
	if err != nil {
		return err
	}
	if out.Steps = len(l.Steps()) - 2; l.State != "RUN_SUCCESS" || out.Steps != r.Steps {
		return fmt.Errorf("the resumed run: %s", show(l))
	}
	for i := range r.Steps {
		name := fmt.Sprint("step ", i)
		out.Again += a.Effects(made[0], name) + a.Effects("wfr_"+r.Label+"_long", name) - 1
	}
	if out.Again != 0 {
		return fmt.Errorf("%d finished steps ran again", out.Again)
	}
	return nil
}

// bulk resumes by filter, with the cursor, while other dead letters are deleted.
func (r Revive) bulk(ctx context.Context, a *App, out *ReviveResult) error {
	others, err := a.Letters(ctx, r.Label+"-other")
	if err != nil {
		return err
	}
	deleted := make(chan error, 1)
	go func() {
		deleted <- all(ctx, len(others), func(ctx context.Context, i int) error {
			status, err := a.Call(ctx, http.MethodDelete, "/v2/workflows/dlq/"+others[i], nil, nil, nil)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("delete %s: status %d", others[i], status)
			}
			return err
		})
	}()
	var made []string
	query := url.Values{"label": {r.Label + "-bulk"}, "count": {"100"}}
	for {
		var page struct {
			Cursor       string
			WorkflowRuns []runRef
		}
		if err := a.once(ctx, http.MethodPost, "/v2/workflows/dlq/resume?"+query.Encode(), nil, &page); err != nil {
			return errors.Join(err, <-deleted)
		}
		out.Requests++
		for _, w := range page.WorkflowRuns {
			made = append(made, w.ID)
		}
		if page.Cursor == "" {
			break
		}
		query.Set("cursor", page.Cursor)
	}
	if err := <-deleted; err != nil {
		return err
	}
	out.Bulk, out.Deleted = len(made), len(others)
	left, err := a.Letters(ctx, r.Label+"-bulk")
	if err != nil {
		return err
	}
	out.Missing = len(left)
	if want := (r.Bulk + 49) / 50; out.Bulk != r.Bulk || out.Missing > 0 || out.Requests != want {
		return fmt.Errorf("resumed %d of %d in %d requests (want %d), %d are left", out.Bulk, r.Bulk, out.Requests, want, out.Missing)
	}
	return all(ctx, len(made), func(ctx context.Context, i int) error {
		l, err := a.Ended(ctx, made[i], r.Patience)
		if err == nil && l.State != "RUN_SUCCESS" {
			err = fmt.Errorf("resumed run %s: %s", made[i], show(l))
		}
		return err
	})
}
