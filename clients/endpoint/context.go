package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// step is the JSON of a step.
type step struct {
	ID          int     `json:"stepId"`
	Name        string  `json:"stepName"`
	Type        string  `json:"stepType"`
	Out         *string `json:"out,omitempty"`
	Concurrent  int     `json:"concurrent"`
	Target      int     `json:"targetStep,omitempty"`
	SleepFor    string  `json:"sleepFor,omitempty"`
	EventID     string  `json:"waitEventId,omitempty"`
	Timeout     string  `json:"timeout,omitempty"`
	WaitTimeout bool    `json:"waitTimeout,omitempty"`
}

func text(s string) *string { return &s }

// Context is one delivery of a run, for the workflow's function.
type Context struct {
	*Endpoint
	RunID   string
	URL     string
	Request *http.Request
	Payload []byte
	// Ahead is how many steps of an inline run may be done while results before them are on their way to the log: for steps that are cheap to
	// repeat. With 0 a step begins when all before it are recorded. Otherwise a request that fails may leave up to Ahead+1 steps to be done
	// again, and the later of them have seen results that are lost. The workflow's function may set it.
	Ahead int

	results map[int]step
	plans   map[int]bool
	// last is the target of the plan that the list ends with, 0 if it ends with a result.
	last int
	at   int // steps so far
	// inline is nil if each delivery records one step.
	inline *inline
}

func (c *Context) take(s step) {
	c.last = s.Target
	if s.Target > 0 {
		c.plans[s.Target] = true
		return
	}
	c.results[s.ID] = s
	if c.Seen != nil {
		out := ""
		if s.Out != nil {
			out = *s.Out
		}
		c.Seen(c.RunID, s.ID, out)
	}
}

// abandoned is the panic value that ends a workflow's function early. err is nil unless a submission
// has failed.
type abandoned struct{ err error }

// replay runs the function, and ends the run with what it returns.
func (c *Context) replay(w Workflow) (err error) {
	if w == nil {
		return fmt.Errorf("no workflow at %s", c.Request.URL.Path)
	}
	defer func() {
		v := recover()
		if c.inline != nil && v != nil {
			err = c.recordNow(nil)
		}
		switch v := v.(type) {
		case nil:
		case abandoned:
			err = v.err
		case error:
			err = errors.Join(v, err)
		default:
			panic(v)
		}
		if errors.Is(err, errMovedOn) {
			err = nil
		}
	}()
	return c.end(w(c))
}

func (c *Context) end(result any) error {
	var body []byte
	if result != nil {
		body, _ = json.Marshal(result)
	}
	if c.inline != nil {
		end := &ending{}
		if body != nil {
			end.Result = text(string(body))
		}
		return c.recordNow(end)
	}
	status, answer, err := c.Ask(c.Request.Context(), http.MethodDelete, "/v2/workflows/runs/"+c.RunID+"?cancel=false", map[string]string{"content-type": "text/plain"}, body)
	if err == nil && (status < 200 || status > 299) {
		err = fmt.Errorf("end: status %d: %s", status, answer)
	}
	if err == nil && c.Ended != nil {
		c.Ended(c.RunID)
	}
	return err
}

// Lazy is a step that has not been done.
type Lazy struct {
	step
	submit func(c *Context, s step) error
	// run is what a step of the type Run calls.
	run func() any
	// delay is the delay of a sleep, for which its plan or its result waits.
	delay string
}

// Run is a step that calls fn, whose result is JSON.
func Run(name string, fn func() any) Lazy {
	return Lazy{step: step{Name: name, Type: "Run"}, run: fn, submit: func(c *Context, s step) error {
		out, err := json.Marshal(fn())
		if err != nil {
			return err
		}
		s.Out = text(string(out))
		return c.result(s, nil)
	}}
}

// Command is a command that takes effect with a step.
type Command []any

// Outcome is the result of a step with commands that take effect with it or not at all, a state of the run that everybody can read, and
// the updates that the run accepts from then on, by name with their rules. What is nil is left as it is.
type Outcome struct {
	Commands []Command         `json:"svcCommit,omitempty"`
	State    any               `json:"svcState,omitempty"`
	Updates  map[string]string `json:"svcUpdates,omitempty"`
	Result   any               `json:"result,omitempty"`
}

// Bring is a step that calls fn. Committed reads its result. The commands count if the run was triggered with the header Svc-Commit-As.
func Bring(name string, fn func() Outcome) Lazy {
	return Run(name, func() any { return fn() })
}

// Commit is a step that calls fn, which returns commands and a result.
func Commit(name string, fn func() ([]Command, any)) Lazy {
	return Bring(name, func() Outcome {
		commands, result := fn()
		return Outcome{Commands: commands, Result: result}
	})
}

// SetState is a step that calls fn, whose value becomes the state of the run.
func SetState(name string, fn func() any) Lazy {
	return Bring(name, func() Outcome { return Outcome{State: fn()} })
}

// Committed reads the result of such a step, as Do returns it, into v.
func Committed(out string, v any) error {
	return json.Unmarshal([]byte(out), &Outcome{Result: v})
}

// Sleep is a step that waits.
func Sleep(name string, d time.Duration) Lazy {
	delay := strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10) + "s"
	return Lazy{delay: delay, step: step{Name: name, Type: "SleepFor", SleepFor: delay}, submit: func(c *Context, s step) error {
		headers := map[string]string{}
		if s.Concurrent == 1 {
			headers["upstash-delay"] = delay
		}
		return c.result(s, headers)
	}}
}

// CallResult is the answer of a third party.
type CallResult struct {
	Status int                 `json:"status"`
	Body   string              `json:"body"`
	Header map[string][]string `json:"header"`
}

// Call is a step that calls a third party.
func Call(name, method, url, body string, retries int) Lazy {
	return Lazy{step: step{Name: name, Type: "Call"}, submit: func(c *Context, s step) error {
		h := c.headers(c.RunID, c.URL)
		delete(h, "upstash-forward-upstash-workflow-sdk-version")
		for name, value := range map[string]string{
			"method": method, "retries": strconv.Itoa(retries), "retry-delay": "50", "feature-set": "WF_NoDelete,InitialBody",
			"workflow-calltype": "toCallback", "callback": c.URL, "callback-workflow-runid": c.RunID, "callback-workflow-url": c.URL,
			"callback-workflow-calltype": "fromCallback", "callback-workflow-init": "false", "callback-feature-set": features,
			"callback-forward-upstash-workflow-callback": "true", "callback-forward-upstash-workflow-stepid": strconv.Itoa(s.ID),
			"callback-forward-upstash-workflow-stepname": s.Name, "callback-forward-upstash-workflow-steptype": "Call",
			"callback-forward-upstash-workflow-concurrent":  strconv.Itoa(s.Concurrent),
			"callback-forward-upstash-workflow-contenttype": "application/json",
		} {
			h["upstash-"+name] = value
		}
		return c.batch(c.Request.Context(), item{url, h, body})
	}}
}

// WaitResult is the end of a wait: a notification or the timeout.
type WaitResult struct {
	Data    []byte // of the notification
	Timeout bool
}

// Wait is a step that waits for an event.
func Wait(name, event string, timeout time.Duration) Lazy {
	limit := strconv.FormatInt(int64((timeout+time.Second-1)/time.Second), 10) + "s"
	return Lazy{step: step{Name: name, Type: "Wait", EventID: event, Timeout: limit}, submit: func(c *Context, s step) error {
		h := c.headers(c.RunID, c.URL)
		h["upstash-workflow-calltype"] = "step"
		headers := map[string][]string{}
		for name, value := range h {
			headers[name] = []string{value}
		}
		body := map[string]any{
			"url": c.URL, "timeout": limit, "timeoutUrl": c.URL, "timeoutHeaders": headers,
			"step": map[string]any{"stepId": s.ID, "stepType": s.Type, "stepName": s.Name, "concurrent": s.Concurrent},
		}
		_, err := c.post(c.Request.Context(), "/v2/wait/"+event, h, body)
		return err
	}}
}

// InvokeResult is the end of an invoked run.
type InvokeResult struct {
	Body       string `json:"body"`
	IsFailed   bool   `json:"isFailed"`
	IsCanceled bool   `json:"isCanceled"`
}

// ChildID is an id for a run that a step invokes. Another delivery of the same step
// makes another one, as SDKs do.
func ChildID(c *Context, name string) string {
	return fmt.Sprintf("%s_%s_%x", c.RunID, name, rand.Uint64())
}

// Invoke is a step that starts another workflow of this endpoint and waits for its end.
// id names the run, settings are headers of its own: it has none of the run that invokes it.
func Invoke(name, url, id, payload string, settings map[string]string) Lazy {
	return Lazy{step: step{Name: name, Type: "Invoke"}, submit: func(c *Context, s step) error {
		h := TriggerHeaders(url, id)
		maps.Copy(h, settings)
		h["upstash-workflow-invoke"] = "true"
		parent := map[string][]string{}
		for name, value := range c.headers(c.RunID, c.URL) {
			parent[name] = []string{value}
		}
		created, err := strconv.ParseInt(c.Request.Header.Get(header+"CreatedAt"), 10, 64)
		if err != nil {
			return err
		}
		_, err = c.post(c.Request.Context(), "/v2/publish/"+url, h, map[string]any{
			"body": payload, "headers": parent, "workflowRunId": c.RunID, "workflowRunCreatedAt": created, "workflowUrl": c.URL,
			"step": map[string]any{"stepId": s.ID, "stepName": s.Name, "stepType": s.Type, "concurrent": s.Concurrent},
		})
		return err
	}}
}

// TriggerHeaders returns the headers of a message that starts a run.
func TriggerHeaders(url, id string) map[string]string {
	h := map[string]string{
		"content-type": "application/json", "upstash-method": http.MethodPost, "upstash-workflow-init": "true", "upstash-workflow-runid": id,
		"upstash-workflow-url": url, "upstash-workflow-sdk-version": "1", "upstash-feature-set": features,
		"upstash-forward-upstash-workflow-sdk-version": "1", "upstash-failure-callback": url,
		"upstash-failure-callback-forward-upstash-workflow-is-failure":       "true",
		"upstash-failure-callback-forward-upstash-workflow-failure-callback": "true",
		"upstash-failure-callback-workflow-runid":                            id, "upstash-failure-callback-workflow-url": url,
		"upstash-failure-callback-workflow-init": "false", "upstash-failure-callback-workflow-calltype": "failureCall",
		"upstash-failure-callback-feature-set": features,
	}
	return h
}

// result submits the result of a step.
func (c *Context) result(s step, headers map[string]string) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	h := c.headers(c.RunID, c.URL)
	maps.Copy(h, headers)
	return c.batch(c.Request.Context(), item{c.URL, h, string(body)})
}

// Do does one step, or takes its result.
func (c *Context) Do(l Lazy) string {
	c.at++
	if s, ok := c.results[c.at]; ok {
		return outOf(s)
	}
	l.ID, l.Concurrent = c.at, 1
	if c.isInline(&l) {
		return c.doInline(l)
	}
	c.record()
	panic(abandoned{l.submit(c, l.step)})
}

// outOf is the output of a step: its text, or that of the whole step if it waited.
func outOf(s step) string {
	if s.Type == "Wait" {
		all, _ := json.Marshal(s)
		return string(all)
	}
	if s.Out == nil {
		return ""
	}
	return *s.Out
}

// ReadWait reads the output of a Wait.
func ReadWait(out string) (n WaitResult, err error) {
	var s struct {
		Out         []byte
		WaitTimeout bool
	}
	err = json.Unmarshal([]byte(out), &s)
	return WaitResult{s.Out, s.WaitTimeout}, err
}

// Parallel does steps at the same time, or takes their results.
func (c *Context) Parallel(all ...Lazy) []string {
	first := c.at + 1
	c.at += len(all)
	outs := make([]string, len(all))
	planned, done := 0, 0
	for i := range all {
		all[i].ID, all[i].Concurrent = first+i, len(all)
		if c.plans[first+i] {
			planned++
		}
		if s, ok := c.results[first+i]; ok {
			outs[i] = outOf(s)
			done++
		}
	}
	switch {
	case planned == 0:
		c.record()
		panic(abandoned{c.plan(all)})
	case c.last >= first && c.last <= c.at:
		l := all[c.last-first]
		panic(abandoned{l.submit(c, l.step)})
	case done < len(all):
		panic(abandoned{})
	}
	return outs
}

func (c *Context) plan(all []Lazy) error {
	items := make([]item, len(all))
	for i, l := range all {
		s := l.step
		s.ID, s.Target = 0, l.ID
		body, err := json.Marshal(s)
		if err != nil {
			return err
		}
		h := c.headers(c.RunID, c.URL)
		if l.delay != "" {
			h["upstash-delay"] = l.delay
		}
		items[i] = item{c.URL, h, string(body)}
	}
	return c.batch(c.Request.Context(), items...)
}

// Trigger starts a run of the workflow at url. An empty payload is none.
func (e *Endpoint) Trigger(ctx context.Context, url, id, payload string, headers map[string]string) error {
	h := TriggerHeaders(url, id)
	maps.Copy(h, headers)
	err := e.batch(ctx, item{url, h, payload})
	if errors.Is(err, errOver) {
		return fmt.Errorf("trigger: %w", err)
	}
	return err
}
