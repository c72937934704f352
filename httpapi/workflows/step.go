package workflows

import (
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// The states of steps in logs.
const (
	stepProgress = "STEP_PROGRESS"
	stepSuccess  = "STEP_SUCCESS"
	stepRetry    = "STEP_RETRY"
	stepFailed   = "STEP_FAILED"
	stepCanceled = "STEP_CANCELED"
)

// stepLog is a step of a run's log. Members that a type of step doesn't have are left out. Where the specification
// doesn't show a name, the name that existing clients read is taken.
type stepLog struct {
	StepID           uint32              `json:"stepId,omitempty"`
	StepName         string              `json:"stepName,omitempty"`
	StepType         string              `json:"stepType,omitempty"`
	CallType         string              `json:"callType,omitempty"`
	MessageID        string              `json:"messageId,omitempty"`
	Out              *string             `json:"out,omitempty"`
	Concurrent       uint32              `json:"concurrent,omitempty"`
	TargetStep       uint32              `json:"targetStep,omitempty"`
	State            string              `json:"state"`
	CreatedAt        int64               `json:"createdAt,omitempty"`
	Headers          map[string][]string `json:"headers,omitempty"`
	Retries          int                 `json:"retries"`
	RetryDelay       string              `json:"retryDelay,omitempty"`
	NextDeliveryTime int64               `json:"nextDeliveryTime,omitempty"`

	sleepLog

	waitLog

	callLog

	invokeLog

	Errors []stepError `json:"errors,omitempty"`
}

// sleepLog has the members of a sleep.
type sleepLog struct {
	SleepFor   int64 `json:"sleepFor,omitempty"`
	SleepUntil int64 `json:"sleepUntil,omitempty"`
}

// waitLog has the members of a wait for an event.
type waitLog struct {
	WaitEventID         string `json:"waitEventId,omitempty"`
	WaitTimeoutDuration string `json:"waitTimeoutDuration,omitempty"`
	WaitTimeoutDeadline int64  `json:"waitTimeoutDeadline,omitempty"`
	WaitTimeout         *bool  `json:"waitTimeout,omitempty"`
}

// callLog has the members of a call.
type callLog struct {
	CallURL             string              `json:"callUrl,omitempty"`
	CallMethod          string              `json:"callMethod,omitempty"`
	CallHeaders         map[string][]string `json:"callHeaders,omitempty"`
	CallBody            *string             `json:"callBody,omitempty"`
	CallResponseStatus  int                 `json:"callResponseStatus,omitempty"`
	CallResponseHeaders map[string][]string `json:"callResponseHeaders,omitempty"`
	CallResponseBody    *string             `json:"callResponseBody,omitempty"`
}

// invokeLog has the members of an invocation.
type invokeLog struct {
	InvokedWorkflowRunID      string              `json:"invokedWorkflowRunId,omitempty"`
	InvokedWorkflowURL        string              `json:"invokedWorkflowUrl,omitempty"`
	InvokedWorkflowCreatedAt  int64               `json:"invokedWorkflowCreatedAt,omitempty"`
	InvokedWorkflowRunBody    *string             `json:"invokedWorkflowRunBody,omitempty"`
	InvokedWorkflowRunHeaders map[string][]string `json:"invokedWorkflowRunHeaders,omitempty"`
}

// stepBody holds the members of a step's JSON that the state machine doesn't keep.
type stepBody struct {
	Out         json.RawMessage `json:"out"`
	SleepFor    json.RawMessage `json:"sleepFor"`
	SleepUntil  float64         `json:"sleepUntil"`
	WaitEventID string          `json:"waitEventId"`
	Timeout     json.RawMessage `json:"timeout"`
	WaitTimeout bool            `json:"waitTimeout"`
}

// entryStep renders an entry of the log as a step.
func (b *runBuilder) entryStep(e *workflow.Entry) *stepLog {
	n := &stepLog{
		StepID: e.Step.ID, StepName: e.Name, StepType: e.Type.String(), CallType: e.Kind.String(), MessageID: e.ID.String(),
		Concurrent: e.Concurrent, TargetStep: e.Target, State: stepSuccess, CreatedAt: e.Created,
		Retries: int(e.Retries), RetryDelay: b.run.RetryDelay,
	}
	if b.shows(e.Number()) {
		n.Headers = b.headers(e.Own, e.Type == workflow.Initial)
	}
	if e.Own != nil && e.Own.RetryDelay != "" {
		n.RetryDelay = e.Own.RetryDelay
	}
	if e.Kind == workflow.StepEntry && (b.shows(e.Number()) || tellsTime(e)) {
		b.readBody(n, e)
	}
	return n
}

// tellsTime reports whether the body of an entry is short and says how long a step sleeps or waits.
func tellsTime(e *workflow.Entry) bool {
	switch e.Type {
	case workflow.SleepFor, workflow.SleepUntil, workflow.Wait, workflow.WaitForWebhook:
		return e.Body.Len() <= maxTimedBody
	}
	return false
}

// headersOf returns the headers of a step that is shown with them.
func (b *runBuilder) headersOf(step uint32, own *queue.Options) map[string][]string {
	if !b.shows(step) {
		return nil
	}
	return b.headers(own, false)
}

// headers returns the headers that the endpoint gets: the run's, overridden by a message's own. Only the first delivery
// of a run has those that ask for the handshake.
func (b *runBuilder) headers(own *queue.Options, first bool) map[string][]string {
	m := b.Header(b.run.Header)
	if !first {
		maps.DeleteFunc(m, func(name string, _ []string) bool { return workflow.IsHandshake(name) })
	}
	if own == nil || len(own.Header) == 0 {
		return m
	}
	if m == nil {
		m = map[string][]string{}
	}
	for name, values := range b.Header(own.Header) {
		m[name] = values
	}
	return m
}

// readBody takes what a step's JSON says. What can't be read is left out: the SDK wrote
// it, and it is stored as it came.
func (b *runBuilder) readBody(n *stepLog, e *workflow.Entry) {
	if e.Type == workflow.Initial {
		out := b.Text(e.Body.Bytes())
		n.Out = &out
		return
	}
	var in stepBody
	if json.Unmarshal(e.Body.Bytes(), &in) != nil {
		return
	}
	n.Out = b.out(in.Out)
	switch e.Type {
	case workflow.SleepFor:
		n.SleepFor = durationText(in.SleepFor)
	case workflow.SleepUntil:
		n.SleepUntil = int64(math.Round(in.SleepUntil * 1000))
	case workflow.Wait, workflow.WaitForWebhook:
		n.WaitEventID, n.WaitTimeoutDuration, n.WaitTimeout = in.WaitEventID, rawText(in.Timeout), &in.WaitTimeout
		n.WaitTimeoutDeadline = e.Deadline
	}
}

// out returns the output of a step: the text that the SDK sent, or the JSON that stood there
// instead; nil if there was none.
func (b *runBuilder) out(raw json.RawMessage) *string {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	out := b.Text([]byte(rawText(raw)))
	return &out
}

// rawText returns the text of a JSON string, or the JSON of another value.
func rawText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

var unitMillis = map[byte]float64{'s': 1000, 'm': 60_000, 'h': 3_600_000, 'd': 86_400_000}

// durationText returns a sleep in milliseconds, from a number of seconds or from groups of a number and a unit; 0 for
// anything else.
func durationText(raw json.RawMessage) int64 {
	text := strings.TrimSpace(rawText(raw))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return int64(math.Round(seconds * 1000))
	}
	var ms float64
	for text != "" {
		end := strings.IndexAny(text, "smhd")
		if end < 0 {
			return 0
		}
		n, err := strconv.ParseFloat(text[:end], 64)
		if err != nil {
			return 0
		}
		ms += n * unitMillis[text[end]]
		text = text[end+1:]
	}
	return int64(math.Round(ms))
}

// wait adds what is known of a waiter that still waits.
func (sl *stepLog) wait(w *workflow.Waiter) {
	late := false
	sl.WaitEventID, sl.WaitTimeoutDuration, sl.WaitTimeoutDeadline, sl.WaitTimeout = w.EventID, w.TimeoutText, w.Deadline, &late
}

// call adds a call and, once it is there, its answer.
func (b *runBuilder) call(n *stepLog, call, answer *workflow.Entry) {
	n.CallURL, n.CallMethod = call.URL, "POST"
	if call.Own != nil && call.Own.Method != "" {
		n.CallMethod = call.Own.Method
	}
	if answer != nil && answer.Answer != nil {
		n.CallResponseStatus = answer.Answer.Status
	}
	if b.shows(call.Number()) {
		b.callTexts(n, call, answer)
	}
}

// callTexts adds the bodies and headers of a call and its answer.
func (b *runBuilder) callTexts(n *stepLog, call, answer *workflow.Entry) {
	body := b.Text(call.Body.Bytes())
	n.CallBody = &body
	if call.Own != nil {
		n.CallHeaders = b.Header(call.Own.Header)
	}
	if answer == nil || answer.Answer == nil {
		return
	}
	a := answer.Answer
	answered := a.Body
	if a.Superseded {
		answered = b.toldBody(answer)
	}
	text := b.Text(answered)
	n.CallResponseHeaders, n.CallResponseBody = view.Header(a.Header), &text
}

// toldBody returns the body of an answer that is kept only in the result of its step.
func (b *runBuilder) toldBody(answer *workflow.Entry) []byte {
	result, ok := b.store.ResultOf(b.run.No, answer.Step.Number())
	if !ok {
		return nil
	}
	var in stepBody
	var out struct {
		Body json.RawMessage `json:"body"`
	}
	if json.Unmarshal(result.Body.Bytes(), &in) != nil || json.Unmarshal([]byte(rawText(in.Out)), &out) != nil {
		return nil
	}
	return plainBytes(rawText(out.Body))
}

// plainBytes restores the bytes of an answer that an SDK has read as one character for each byte. A text that can't
// have come about that way is returned as it is.
func plainBytes(text string) []byte {
	plain := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return []byte(text)
		}
		plain = append(plain, byte(r))
	}
	if !utf8.Valid(plain) {
		return []byte(text)
	}
	return plain
}

// invoked adds the run that a step has invoked.
func (b *runBuilder) invoked(n *stepLog, child *workflow.Run) {
	n.InvokedWorkflowRunID, n.InvokedWorkflowURL, n.InvokedWorkflowCreatedAt = child.ID, child.URL, child.Created
	if child.Invoker != nil && !b.shows(child.Invoker.Step.Number()) {
		return
	}
	s := view.Redactor{Hide: child.Redact, Trim: b.Trim}
	n.InvokedWorkflowRunHeaders = s.Header(child.Header)
	if e, ok := b.store.Entry(child.No, 0); ok {
		body := s.Text(e.Body.Bytes())
		n.InvokedWorkflowRunBody = &body
	}
}
