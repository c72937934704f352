package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Options configures an endpoint.
type Options struct {
	// Node gives the base URL of a node, another one each time if it likes.
	Node func() string
	// Token opens /v2.
	Token string
	// Client sends what is submitted; nil is http.DefaultClient.
	Client *http.Client
	// Workflows by the last segment of the path.
	Workflows map[string]Workflow
	// Failed, if set, is called with failed runs.
	Failed func(Failure)
	// Ended, if set, is called with runs whose end a node has acknowledged.
	Ended func(run string)
	// Seen, if set, is called with every result of a step that a delivery carries: one value for
	// each step of a run, if the server keeps its word.
	Seen func(run string, step int, out string)
}

// Workflow is the function of a workflow. What it returns is the run's result, as JSON.
type Workflow func(c *Context) any

// Failure is the argument of a run's failure function.
type Failure struct {
	RunID   string
	Status  int
	Message string
	Payload []byte
}

// Endpoint is an http.Handler.
type Endpoint struct{ Options }

// New makes an endpoint.
func New(o Options) *Endpoint {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	return &Endpoint{o}
}

// ErrPermanent fails a run without retries, if a step's function panics with it.
var ErrPermanent = errors.New("endpoint: not to be retried")

// errOver says that a run is over: what was to be submitted counts for nothing.
var errOver = errors.New("endpoint: the run is over")

const (
	header     = "Upstash-Workflow-"
	statusOver = http.StatusBadRequest
	features   = "LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig"
)

// ServeHTTP answers a delivery.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = e.deliver(r, body)
	}
	w.Header().Set(header+"Sdk-Version", "1")
	switch {
	case err == nil, errors.Is(err, errOver):
		w.Header().Set(header+"Sdk", "v1.0.0")
		io.WriteString(w, `{"finishCondition":"success"}`)
	case errors.Is(err, ErrPermanent):
		w.Header().Set("Upstash-NonRetryable-Error", "true")
		answerError(w, 489, err)
	default:
		answerError(w, http.StatusInternalServerError, err)
	}
}

func answerError(w http.ResponseWriter, status int, err error) {
	answer := map[string]string{"error": "Error", "message": err.Error()}
	if thrown, is := errors.AsType[*Error](err); is {
		answer = map[string]string{"error": thrown.Name, "message": thrown.Message, "stack": thrown.Stack}
	}
	text, _ := json.Marshal(answer)
	w.WriteHeader(status)
	w.Write(text)
}

func (e *Endpoint) deliver(r *http.Request, body []byte) error {
	run := r.Header.Get(header + "Runid")
	switch {
	case run == "":
		return errors.New("a delivery without a run id")
	case r.Header.Get(header+"Failure-Callback") != "":
		return e.failed(run, body)
	case r.Header.Get(header+"Callback") != "":
		return e.called(r, run, body)
	}
	c, err := e.context(r, run, body)
	if err != nil {
		return err
	}
	return c.replay(e.Workflows[r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]])
}

// failed reports a failed run.
func (e *Endpoint) failed(run string, body []byte) error {
	var in struct {
		Status     int
		Body       []byte
		SourceBody []byte
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	var said struct{ Message string }
	_ = json.Unmarshal(in.Body, &said) // an answer that is no SDK's has no message
	if e.Failed != nil {
		e.Failed(Failure{run, in.Status, said.Message, in.SourceBody})
	}
	return nil
}

// called submits the answer of a third party as the result of its step.
func (e *Endpoint) called(r *http.Request, run string, body []byte) error {
	if len(body) == 0 {
		list, err := e.fetch(r, run)
		if err != nil {
			return err
		}
		body = list[len(list)-1].Body
	}
	var in struct {
		Status              int
		Header              map[string][]string
		Body                []byte
		Retried, MaxRetries int
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	if (in.Status < 200 || in.Status > 299) && in.MaxRetries > 0 && in.Retried != in.MaxRetries {
		return nil // it will be tried again
	}
	out, _ := json.Marshal(CallResult{in.Status, string(in.Body), in.Header})
	id, err := strconv.Atoi(r.Header.Get(header + "StepId"))
	concurrent, err2 := strconv.Atoi(r.Header.Get(header + "Concurrent"))
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	result := step{ID: id, Name: r.Header.Get(header + "StepName"), Type: r.Header.Get(header + "StepType"), Out: text(string(out)), Concurrent: concurrent}
	url := r.Header.Get(header + "Url")
	_, err = e.post(r.Context(), "/v2/publish/"+url, e.headers(run, url), result)
	return err
}

// element is an element of the list that a delivery carries.
type element struct {
	MessageID string `json:"messageId"`
	Body      []byte `json:"body"`
	CallType  string `json:"callType"`
}

// context reads the list of a delivery, or fetches it.
func (e *Endpoint) context(r *http.Request, run string, body []byte) (*Context, error) {
	var list []element
	var err error
	if len(body) == 0 {
		list, err = e.fetch(r, run)
	} else {
		err = json.Unmarshal(body, &list)
	}
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("a delivery without elements")
	}
	c := &Context{Endpoint: e, RunID: run, Request: r, Payload: list[0].Body, results: map[int]step{}, plans: map[int]bool{}}
	if c.URL = r.Header.Get(header + "Url"); c.URL == "" {
		c.URL = "http://" + r.Host + r.URL.Path
	}
	last := 0
	for _, n := range list[1:] {
		if n.CallType != "step" {
			continue
		}
		var s step
		if err := json.Unmarshal(n.Body, &s); err != nil {
			return nil, err
		}
		c.take(s)
		last = s.ID
	}
	if c.last == 0 { // a planned step is run by itself
		c.inline = readInline(r, last)
	}
	return c, nil
}

// fetch asks for the log and cuts it behind the entry that is delivered.
func (e *Endpoint) fetch(r *http.Request, run string) ([]element, error) {
	status, body, err := e.Ask(r.Context(), http.MethodGet, "/v2/workflows/runs/"+run, nil, nil)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNotFound:
		return nil, errOver
	case status != http.StatusOK:
		return nil, fmt.Errorf("the log: status %d: %s", status, body)
	}
	var list []element
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	id := r.Header.Get("Upstash-Message-Id")
	for i := len(list) - 1; i >= 0; i-- { // a message that goes along with its run has several elements
		if list[i].MessageID == id {
			return list[:i+1], nil
		}
	}
	return nil, fmt.Errorf("the log holds no message %s", id)
}

// headers returns the headers of a message of a run.
func (e *Endpoint) headers(run, url string) map[string]string {
	return map[string]string{
		"content-type": "application/json", "upstash-method": http.MethodPost, "upstash-workflow-init": "false", "upstash-workflow-runid": run,
		"upstash-workflow-url": url, "upstash-workflow-sdk-version": "1", "upstash-feature-set": features,
		"upstash-forward-upstash-workflow-sdk-version": "1",
	}
}

// item is a message of a batch.
type item struct {
	Destination string            `json:"destination"`
	Headers     map[string]string `json:"headers"`
	Body        string            `json:"body,omitempty"`
}

// batch submits messages.
func (e *Endpoint) batch(ctx context.Context, items ...item) error {
	_, err := e.post(ctx, "/v2/batch", map[string]string{"content-type": "application/json"}, items)
	return err
}

// post submits JSON. A refusal of a run that is over is errOver.
func (e *Endpoint) post(ctx context.Context, path string, headers map[string]string, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	status, answer, err := e.Ask(ctx, http.MethodPost, path, headers, body)
	switch {
	case err != nil:
		return nil, err
	case status == statusOver:
		return nil, errOver
	case status == http.StatusPreconditionFailed:
		return nil, fmt.Errorf("%w: %s", ErrPermanent, answer)
	case status < 200 || status > 299:
		return nil, fmt.Errorf("POST %s: status %d: %s", path, status, answer)
	}
	return answer, nil
}

// Ask sends a request to a node, once, and returns its answer.
func (e *Endpoint) Ask(ctx context.Context, method, path string, headers map[string]string, body []byte) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, e.Node()+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Authorization", "Bearer "+e.Token)
	p, err := e.Client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer p.Body.Close()
	answer, err := io.ReadAll(p.Body)
	return p.StatusCode, answer, err
}
