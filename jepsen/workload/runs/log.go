package runs

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/trireme-dev/trireme/jepsen/workload/deliveries"
)

// Log is a run as a node tells it.
type Log struct {
	ID       string  `json:"workflowRunId"`
	State    string  `json:"workflowState"`
	Created  int64   `json:"workflowRunCreatedAt"`
	Response *string `json:"workflowRunResponse"`
	Dead     string  `json:"dlqId"`
	Groups   []struct {
		Type  string `json:"type"`
		Steps []Step `json:"steps"`
	} `json:"steps"`
}

// Step is a step of a log.
type Step struct {
	ID       int     `json:"stepId"`
	Name     string  `json:"stepName"`
	Type     string  `json:"stepType"`
	State    string  `json:"state"`
	Out      *string `json:"out"`
	Deadline int64   `json:"waitTimeoutDeadline"`
	Late     bool    `json:"waitTimeout"`
}

// Steps are those of all groups, in order.
func (l *Log) Steps() (all []Step) {
	for _, g := range l.Groups {
		all = append(all, g.Steps...)
	}
	return all
}

// Log reads a run; nil if it is not there.
func (a *App) Log(ctx context.Context, id string) (*Log, error) {
	var page struct{ Runs []*Log }
	status, err := a.Call(ctx, http.MethodGet, "/v2/workflows/logs?workflowRunId="+url.QueryEscape(id), nil, nil, &page)
	switch {
	case err != nil:
		return nil, err
	case status != http.StatusOK:
		return nil, fmt.Errorf("logs of %s: status %d", id, status)
	case len(page.Runs) == 0:
		return nil, nil
	}
	return page.Runs[0], nil
}

// Ended waits for the end of a run.
func (a *App) Ended(ctx context.Context, id string, limit time.Duration) (*Log, error) {
	return a.Until(ctx, id, limit, func(l *Log) bool { return l.State != "RUN_STARTED" })
}

// Until waits until the log of a run is as wanted.
func (a *App) Until(ctx context.Context, id string, limit time.Duration, good func(*Log) bool) (*Log, error) {
	end := time.Now().Add(limit)
	for {
		l, err := a.Log(ctx, id)
		if err != nil || l != nil && good(l) {
			return l, err
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return l, fmt.Errorf("run %s is not as wanted after %v: %s\n%s", id, limit, show(l), a.explain(ctx, id))
		}
		deliveries.Sleep(ctx, 100*time.Millisecond)
	}
}

func (a *App) explain(ctx context.Context, id string) string {
	_, text, err := a.Ask(ctx, http.MethodGet, "/v2/workflows/runs/"+id+"/explain", nil, nil)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func show(l *Log) string {
	if l == nil {
		return "not there"
	}
	return fmt.Sprintf("%s %+v", l.State, l.Groups)
}

// Letters are the dlqIds of failed runs of a label.
func (a *App) Letters(ctx context.Context, label string) (ids []string, err error) {
	query := url.Values{"label": {label}, "count": {"100"}}
	for {
		var page struct {
			Messages []struct {
				DlqID string `json:"dlqId"`
			}
			Cursor string
		}
		if _, err := a.Call(ctx, http.MethodGet, "/v2/workflows/dlq?"+query.Encode(), nil, nil, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Messages {
			ids = append(ids, m.DlqID)
		}
		if page.Cursor == "" {
			return ids, nil
		}
		query.Set("cursor", page.Cursor)
	}
}
