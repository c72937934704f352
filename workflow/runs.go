package workflow

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// The states of runs.
const (
	RunStarted  = "RUN_STARTED"
	RunSuccess  = "RUN_SUCCESS"
	RunFailed   = "RUN_FAILED"
	RunCanceled = "RUN_CANCELED"
)

// RunLog is a run with its steps. Times are in unix milliseconds.
type RunLog struct {
	ID          string  `json:"workflowRunId"`
	URL         string  `json:"workflowUrl"`
	State       string  `json:"workflowState"`
	CreatedAt   int64   `json:"workflowRunCreatedAt"`
	CompletedAt int64   `json:"workflowRunCompletedAt"` // 0 while it is active
	Result      *string `json:"workflowRunResponse"`    // JSON; nil is none
	// DeadLetter is the id by which a failed run is resumed or restarted.
	DeadLetter     string   `json:"dlqId"`
	Labels         []string `json:"labels"`
	FlowControlKey string   `json:"flowControlKey"`
	Deployment     string   `json:"deployment"`
	Paused         bool     `json:"paused"`
	// Invoker is the run that has invoked this one, nil without.
	Invoker *struct {
		ID string `json:"workflowRunId"`
	} `json:"invoker"`
	// FailureFunction is the call of the failure function, nil without.
	FailureFunction *FailureLog `json:"failureFunction"`
	Groups          []Group     `json:"steps"`
}

// FailureLog is the call of a failure function or a failure URL.
type FailureLog struct {
	URL            string `json:"url"`
	State          string `json:"state"`
	FailStatus     int    `json:"failStatus"`
	FailResponse   string `json:"failResponse"`
	ResponseStatus int    `json:"responseStatus"`
	ResponseBody   string `json:"responseBody"`
}

// Group is one step, a block of parallel ones, or what the run does now: "sequential", "parallel", "next".
type Group struct {
	Type  string    `json:"type"`
	Steps []StepLog `json:"steps"`
}

// StepLog is a step of a run. Times are in unix milliseconds.
type StepLog struct {
	ID          int                 `json:"stepId"`
	Name        string              `json:"stepName"`
	Type        string              `json:"stepType"`
	State       string              `json:"state"`
	Out         *string             `json:"out"`
	Concurrent  int                 `json:"concurrent"`
	MessageID   string              `json:"messageId"`
	CreatedAt   int64               `json:"createdAt"`
	Headers     map[string][]string `json:"headers"`
	Errors      []AttemptError      `json:"errors"`
	SleepFor    int64               `json:"sleepFor"` // in milliseconds
	SleepUntil  int64               `json:"sleepUntil"`
	WaitEventID string              `json:"waitEventId"`
	WaitTimeout bool                `json:"waitTimeout"`
	WaitLimit   string              `json:"waitTimeoutDuration"`
	CallURL     string              `json:"callUrl"`
	CallMethod  string              `json:"callMethod"`
	CallBody    string              `json:"callBody"`
	CallStatus  int                 `json:"callResponseStatus"`
	InvokedID   string              `json:"invokedWorkflowRunId"`
	InvokedURL  string              `json:"invokedWorkflowUrl"`
	InvokedAt   int64               `json:"invokedWorkflowCreatedAt"`
}

// AttemptError is the answer to a failed attempt.
type AttemptError struct {
	Status int    `json:"status"`
	Body   string `json:"body"`
	Error  string `json:"error"`
	Time   int64  `json:"time"`
}

// RunPage is a page of runs, the newest first. Cursor is empty on the last page.
type RunPage struct {
	Cursor string    `json:"cursor"`
	Runs   []*RunLog `json:"runs"`
}

// Runs returns a page of the runs that a filter selects, ten at most. The first page has an empty cursor.
func (c *Client) Runs(ctx context.Context, f Filter, cursor string) (page RunPage, err error) {
	err = c.repeat(ctx, http.MethodGet, "/v2/workflows/logs"+f.query("cursor", cursor), nil, nil, &page)
	return page, err
}

// DeadLetter is a run that has failed, which can be resumed or restarted.
type DeadLetter struct {
	ID              string   `json:"dlqId"`
	RunID           string   `json:"workflowRunId"`
	URL             string   `json:"workflowUrl"`
	Body            string   `json:"body"` // what the run was triggered with
	CreatedAt       int64    `json:"workflowCreatedAt"`
	ResponseStatus  int      `json:"responseStatus"`
	ResponseBody    string   `json:"responseBody"`
	Error           string   `json:"error"`
	Labels          []string `json:"labels"`
	FailureURL      string   `json:"failureCallback"`
	FailureFunction struct {
		State string `json:"state"` // CALLBACK_INPROGRESS, CALLBACK_SUCCESS, CALLBACK_FAIL, CALLBACK_CANCELED
	} `json:"failureCallbackInfo"`
}

// DeadLetterPage is a page of dead letters. Cursor is empty on the last page.
type DeadLetterPage struct {
	Cursor  string       `json:"cursor"`
	Letters []DeadLetter `json:"messages"`
}

// DeadLetters returns a page of the dead letters that a filter selects. The first page has an empty cursor.
func (c *Client) DeadLetters(ctx context.Context, f Filter, cursor string) (page DeadLetterPage, err error) {
	err = c.repeat(ctx, http.MethodGet, "/v2/workflows/dlq"+f.query("cursor", cursor), nil, nil, &page)
	return page, err
}

// Revived are runs that were made of dead letters. Cursor is not empty if the filter selects more.
type Revived struct {
	Cursor string      `json:"cursor"`
	Runs   []Triggered `json:"workflowRuns"`
}

// Resume continues a failed run after its last finished step, under a new id. The options are over those of the run.
func (c *Client) Resume(ctx context.Context, deadLetter string, o *RunOptions) (Triggered, error) {
	return c.revive(ctx, "resume", deadLetter, o)
}

// Restart starts a failed run anew with its payload. The options are over those of the run; its id may be one of them.
func (c *Client) Restart(ctx context.Context, deadLetter string, o *RunOptions) (Triggered, error) {
	return c.revive(ctx, "restart", deadLetter, o)
}

func (c *Client) revive(ctx context.Context, how, deadLetter string, o *RunOptions) (t Triggered, err error) {
	headers, err := reviveHeaders(o)
	if err != nil {
		return t, err
	}
	err = c.ask(ctx, http.MethodPost, "/v2/workflows/dlq/"+how+"/"+deadLetter, headers, nil, &t)
	return t, err
}

// ResumeWhere resumes up to count of the runs that a filter selects, at most 50.
func (c *Client) ResumeWhere(ctx context.Context, f Filter, count int, cursor string) (Revived, error) {
	return c.reviveWhere(ctx, "resume", f, count, cursor)
}

// RestartWhere restarts up to count of the runs that a filter selects, at most 50.
func (c *Client) RestartWhere(ctx context.Context, f Filter, count int, cursor string) (Revived, error) {
	return c.reviveWhere(ctx, "restart", f, count, cursor)
}

func (c *Client) reviveWhere(ctx context.Context, how string, f Filter, count int, cursor string) (r Revived, err error) {
	err = c.ask(ctx, http.MethodPost, "/v2/workflows/dlq/"+how+f.query("cursor", cursor, "count", strconv.Itoa(count)), nil, nil, &r)
	return r, err
}

func reviveHeaders(o *RunOptions) (map[string]string, error) {
	headers := map[string]string{}
	if o == nil {
		return headers, nil
	}
	if err := o.set(headers); err != nil {
		return nil, err
	}
	if o.RunID != "" {
		headers["upstash-workflow-runid"] = o.RunID
	}
	return headers, nil
}

// DeleteDeadLetters deletes the dead letters that a filter selects and returns their number.
func (c *Client) DeleteDeadLetters(ctx context.Context, f Filter) (int, error) {
	var out struct{ Deleted int }
	err := c.ask(ctx, http.MethodDelete, "/v2/workflows/dlq"+f.query(), nil, nil, &out)
	return out.Deleted, err
}

// RetryFailureFunction calls the failure function of a failed run once more, if its last call has failed.
func (c *Client) RetryFailureFunction(ctx context.Context, deadLetter string) error {
	return c.ask(ctx, http.MethodPost, "/v2/workflows/dlq/callback/"+deadLetter, nil, nil, nil)
}

// pollPause is the pause between two questions for the end of a run: at first, and at most.
const (
	pollPause    = 20 * time.Millisecond
	maxPollPause = time.Second
)

// WaitEnd waits for the end of a run and returns it.
func (c *Client) WaitEnd(ctx context.Context, id string) (*RunLog, error) {
	for pause := pollPause; ; pause = min(2*pause, maxPollPause) {
		run, err := c.Run(ctx, id)
		if err != nil || run.State != RunStarted {
			return run, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return run, ctx.Err()
		}
	}
}
