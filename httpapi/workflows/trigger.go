package workflows

import (
	"encoding/json"
	"net/http"
	"net/textproto"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// triggered names a run that was started.
type triggered struct {
	RunID        string `json:"workflowRunId"`
	Created      int64  `json:"workflowCreatedAt"`
	Deduplicated bool   `json:"deduplicated,omitempty"`
	// Trireme extensions, which only triggers that ask for them get.
	Debounced bool `json:"debounced,omitempty"`
	Attached  bool `json:"attached,omitempty"`
}

func triggeredBy(p *workflow.Receipt) triggered {
	return triggered{p.RunID, p.Created, p.Deduplicated, p.Debounced, p.Attached}
}

// trigger answers /v2/trigger/{url}.
func (re *request) trigger(destination string) error {
	body, err := re.body()
	if err != nil {
		return err
	}
	url, err := re.Parser.ReadURL(destination, re.Query)
	if err != nil {
		return err
	}
	n, err := re.plainStart(url, re.Parser.ReadHeaders(re.r.Header), body)
	if err != nil {
		return err
	}
	out, err := propose(re, fsm.Submit, workflow.Submissions{Items: []workflow.Submission{n}})
	if err != nil {
		return err
	}
	p := &out.Items[0]
	if p.Refused != nil {
		return p.Refused
	}
	re.answer(http.StatusOK, triggeredBy(p))
	return nil
}

// trigger is an item of a batch of them.
type trigger struct {
	Destination string            `json:"destination"`
	Body        *string           `json:"body"`
	Headers     map[string]string `json:"headers"`
}

// triggerBatch answers /v2/batch/trigger.
func (re *request) triggerBatch() error {
	body, err := re.json(jsonbody.Bounds{Items: messages.MaxItems})
	if err != nil {
		return err
	}
	var items []trigger
	if err := json.Unmarshal(body, &items); err != nil {
		return messages.BatchFault[trigger](body, err)
	}
	n := workflow.Submissions{Items: make([]workflow.Submission, len(items))}
	for i, m := range items {
		h := http.Header{}
		for name, v := range m.Headers {
			h[textproto.CanonicalMIMEHeaderKey(name)] = []string{v}
		}
		re.Parser.InheritTrace(h, re.r.Header)
		url, err := re.Parser.ReadURL(m.Destination, "")
		if err != nil {
			return messages.ItemError(i, err)
		}
		var payload []byte
		if m.Body != nil {
			payload = []byte(*m.Body)
		}
		if n.Items[i], err = re.plainStart(url, re.Parser.ReadHeaders(h), payload); err != nil {
			return messages.ItemError(i, err)
		}
	}
	out, err := propose(re, fsm.Submit, n)
	if err != nil {
		return err
	}
	answers := make([]any, len(out.Items))
	for i := range out.Items {
		p := &out.Items[i]
		if answers[i] = any(triggeredBy(p)); p.Refused != nil {
			answers[i] = map[string]string{"error": p.Refused.Text}
		}
	}
	re.answer(http.StatusCreated, answers)
	return nil
}

// plainStart returns the submission of a start without an SDK, as if the caller had sent what an SDK sends.
func (re *request) plainStart(url string, h *messages.Headers, body []byte) (n workflow.Submission, err error) {
	o, err := h.Options()
	if err != nil {
		return n, err
	}
	if err := re.Commits(re.r, re.Query, h, &o, &re.judged); err != nil {
		return n, err
	}
	own, err := re.RunOptions(re.r.Context(), h, &o)
	if err != nil {
		return n, err
	}
	re.clean(&o, ofCaller)
	o = o.InTrace(h.Trace())
	n = workflow.Submission{
		Kind: workflow.InitSubmission, URL: url, RunID: h.Field("workflow-runid"), Body: body, Options: o, CallerIP: messages.CallerIP(re.r),
		Origin: workflow.FromREST,
	}
	n.Ask(own)
	if n.DedupID, n.ContentDedup, err = h.Dedup(); err != nil {
		return n, err
	}
	if h.Is("workflow-unknown-sdk") {
		n.Origin = workflow.FromUnknown
	}
	workflow.CompleteStart(&n)
	n.Features |= workflow.Singleton
	if len(o.Labels) > 0 {
		n.Options.Header = append(n.Options.Header, queue.Field{Name: re.prefix() + "-Label", Value: strings.Join(o.Labels, ",")})
	}
	return n, nil
}
