package workflows

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// submitted is the answer to one message of a run.
type submitted struct {
	MessageID    string `json:"messageId"`
	Deduplicated bool   `json:"deduplicated,omitempty"`
	RunID        string `json:"workflowRunId,omitempty"`
	Created      int64  `json:"workflowCreatedAt,omitempty"`
	// Trireme extensions, which only starts that ask for them get.
	Debounced bool `json:"debounced,omitempty"`
	Attached  bool `json:"attached,omitempty"`
}

// Submit accepts messages with workflow headers. Steps, of which an SDK sends those of one call together, are all
// accepted, or the answer is the refusal of the first refused one. Several starts have an answer each.
func (a *API) Submit(r *http.Request, items []messages.RunItem) (answers []any, err error) {
	n := workflow.Submissions{Items: make([]workflow.Submission, len(items))}
	for i := range items {
		if n.Items[i], err = a.submission(r.Context(), &items[i]); err != nil {
			return nil, ofItem(len(items), i, err)
		}
	}
	if err := a.keepKnown(r.Context(), n.Items); err != nil {
		return nil, err
	}
	out, err := fsm.Do(r.Context(), a.Engine, fsm.Submit, n)
	if err != nil {
		return nil, err
	}
	for i := range out.Items {
		p := &out.Items[i]
		if p.Refused != nil {
			if len(items) == 1 || n.Items[i].Kind != workflow.InitSubmission {
				return nil, ofItem(len(items), i, p.Refused)
			}
			answers = append(answers, map[string]string{"error": p.Refused.Text})
			continue
		}
		answers = append(answers, submitted{p.ID.String(), p.Deduplicated, p.RunID, p.Created, p.Debounced, p.Attached})
	}
	return answers, nil
}

// ofItem adds to an error the number of its item, unless there is only one.
func ofItem(items, at int, err error) error {
	if items == 1 {
		return err
	}
	return messages.ItemError(at, err)
}

// submission reads what a message of a run says.
func (a *API) submission(ctx context.Context, m *messages.RunItem) (n workflow.Submission, err error) {
	h := m.Headers
	n = workflow.Submission{
		URL: m.URL, RunID: h.Field("workflow-runid"), Body: m.Body, Options: m.Options, CallerIP: m.CallerIP,
		Features: features(h.Values("feature-set")),
	}
	switch {
	case h.Is("workflow-init"):
		return n, a.readStart(ctx, &n, h)
	case strings.EqualFold(h.Field("workflow-calltype"), "toCallback"):
		return n, a.readCall(ctx, &n, h)
	}
	n.Created = createdAt(h)
	n.Kind = workflow.StepSubmission
	a.clean(&n.Options, ofStep)
	step, err := readStep(m.Body)
	if err != nil {
		return n, err
	}
	n.Step = step.Step
	b := readBrought(m.Body)
	n.Commit, n.State, n.Updates = b.Commit, b.State, b.Updates
	if step.until > 0 && n.Options.Given&queue.GivenNotBefore != 0 { // the header is rounded to whole seconds
		n.Options.NotBefore = max(n.Options.NotBefore, step.until)
	}
	return n, nil
}

var featureNames = map[string]workflow.Features{
	"lazyfetch": workflow.LazyFetch, "initialbody": workflow.InitialBody, "wf_nodelete": workflow.NoDelete,
	"wf_detecttrigger": workflow.DetectTrigger, "wf_triggeronconfig": workflow.TriggerOnConfig,
}

// features reads lists of features; those that are not known are ignored.
func features(values []string) (f workflow.Features) {
	for _, v := range values {
		for one := range strings.SplitSeq(v, ",") {
			f |= featureNames[strings.ToLower(strings.TrimSpace(one))]
		}
	}
	return f
}

// readStart reads what starts a run.
func (a *API) readStart(ctx context.Context, n *workflow.Submission, h *messages.Headers) error {
	own, err := a.RunOptions(ctx, h, &n.Options)
	if err != nil {
		return err
	}
	n.Ask(own)
	n.Kind = workflow.InitSubmission
	if !olderSDK(h) {
		n.Features |= workflow.Singleton
	}
	n.Options = n.InTrace(h.Trace())
	by := ofCaller
	if n.Again = h.Is("workflow-trigger-by-sdk"); n.Again {
		by = ofStep
	}
	a.clean(&n.Options, by)
	depth, err := strconv.Atoi(h.Field("forward-" + strings.ToLower(a.prefix()) + "-workflow-invoke-count"))
	if err == nil {
		n.Depth = depth
	}
	if h.Is("workflow-invoke") {
		return a.readInvoke(n)
	}
	n.DedupID, n.ContentDedup, err = h.Dedup()
	return err
}

// refused returns an answer upon which an SDK visibly fails the step; after a 400 it would take the run for finished.
func refused(format string, args ...any) error {
	e := messages.Invalid(format, args...)
	e.Status = http.StatusPreconditionFailed
	return e
}

// readInvoke reads the payload of an invoked run, and the step that waits for it.
func (a *API) readInvoke(n *workflow.Submission) error {
	var in struct {
		Body    *string             `json:"body"`
		Headers map[string][]string `json:"headers"`
		RunID   string              `json:"workflowRunId"`
		Created int64               `json:"workflowRunCreatedAt"`
		URL     string              `json:"workflowUrl"`
		Step    json.RawMessage     `json:"step"`
	}
	if err := jsonbody.Admit(nil, n.Body, jsonbody.Bounds{}); err != nil {
		return refused("invalid body of an invoked workflow: %s", err)
	}
	if err := json.Unmarshal(n.Body, &in); err != nil {
		return refused("invalid body of an invoked workflow: %s", jsonbody.Fault(err))
	}
	step, err := readStep(in.Step)
	if err != nil {
		return err
	}
	n.Invoker = &workflow.Invoker{RunID: in.RunID, Created: in.Created, URL: in.URL, Step: step.Step}
	if n.Invoker.URL != "" {
		if n.Invoker.URL, err = a.Parser.ReadPlainURL(n.Invoker.URL); err != nil {
			return refused("%s", err)
		}
	}
	if n.Invoker.Open, err = openObject(in.Step); err != nil {
		return err
	}
	if n.Invoker.Options, err = a.optionsOf(in.Headers); err != nil {
		return err
	}
	n.Body = nil
	if in.Body != nil {
		n.Body = []byte(*in.Body)
	}
	return nil
}

// readCall reads which step asks for a call: the headers of its callback say so.
func (a *API) readCall(ctx context.Context, n *workflow.Submission, h *messages.Headers) error {
	n.Created = createdAt(h)
	n.Kind = workflow.CallSubmission
	a.clean(&n.Options, ofCall)
	if n.Options.Callback == nil {
		return refused("a call needs a callback")
	}
	word := func(name string) string {
		return queue.Value(n.Options.Callback.Options.Header, a.prefix()+"-Workflow-"+name)
	}
	n.Step = workflow.Step{ID: number(word("StepId")), Concurrent: number(word("Concurrent")), Type: workflow.ParseStepType(word("StepType")), Name: word("StepName")}
	if n.RunID == "" {
		n.RunID = h.Field("callback-workflow-runid")
	}
	return nil
}

func number(text string) uint32 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// step holds what is read from a step's JSON.
type step struct {
	workflow.Step
	// until is sleepUntil in unix milliseconds.
	until int64
}

// readStep reads a step. Python writes null for what is not there.
func readStep(text []byte) (s step, err error) {
	var in struct {
		ID         *float64        `json:"stepId"`
		Name       *string         `json:"stepName"`
		Type       *string         `json:"stepType"`
		Concurrent *float64        `json:"concurrent"`
		Target     *float64        `json:"targetStep"`
		Until      json.RawMessage `json:"sleepUntil"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return s, refused("invalid workflow step: %s", jsonbody.Fault(err))
	}
	whole := func(v *float64) uint32 {
		if v == nil || !(*v >= 0 && *v <= math.MaxUint32) {
			return 0
		}
		return uint32(*v)
	}
	s.Step = workflow.Step{ID: whole(in.ID), Target: whole(in.Target), Concurrent: whole(in.Concurrent)}
	if in.Name != nil {
		s.Name = *in.Name
	}
	if in.Type != nil {
		s.Type = workflow.ParseStepType(*in.Type)
	}
	if seconds, err := strconv.ParseFloat(strings.Trim(string(in.Until), `"`), 64); err == nil && seconds > 0 && seconds < 1<<40 {
		s.until = int64(math.Ceil(seconds * 1000))
	}
	return s, nil
}

// prefix returns the prefix of service headers that endpoints read.
func (a *API) prefix() string { return a.Parser.Prefixes[len(a.Parser.Prefixes)-1] }

// sdkName is the name of the published client for JavaScript in a telemetry header; its version follows.
const sdkName = "@upstash/workflow@v"

// singletonSDK is the first release of that client which expects a refusal when it starts a run whose id is taken by a run
// that lives. Earlier releases, and the clients for Python and Go, which don't name themselves, expect an answer that says
// deduplicated.
var singletonSDK = [2]int{1, 4}

// olderSDK reports whether a start was sent by a release of an SDK that knows no refusal of ids.
func olderSDK(h *messages.Headers) bool {
	for _, value := range h.Values("telemetry-sdk") {
		for one := range strings.SplitSeq(value, ",") {
			if version, ok := strings.CutPrefix(strings.TrimSpace(one), sdkName); ok {
				return olderThan(version, singletonSDK)
			}
		}
	}
	return true
}

// olderThan compares the first two numbers of a version such as 1.3.2 or 1.4.0-rc.1. A version that can't be read is not older.
func olderThan(version string, than [2]int) bool {
	parts := strings.SplitN(version, ".", 3)
	for i, limit := range than {
		if i >= len(parts) {
			return false
		}
		digits := strings.TrimRightFunc(parts[i], func(r rune) bool { return r < '0' || r > '9' })
		if n, err := strconv.Atoi(digits); err != nil || n != limit {
			return err == nil && n < limit
		}
	}
	return false
}

// createdAt returns the creation time of the run that a message is meant for, among runs of the same id. It is 0 if the
// message doesn't name it.
func createdAt(h *messages.Headers) int64 {
	created, err := strconv.ParseInt(h.Field("workflow-createdat"), 10, 64)
	if err != nil || created <= 0 {
		return 0
	}
	return created
}
