package workflows

import (
	"cmp"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// deadLetter is a failed run, as clients read it: what it was started with, and how its
// last attempt went.
type deadLetter struct {
	DlqID       string `json:"dlqId"`
	MessageID   string `json:"messageId"`
	URL         string `json:"url"`
	WorkflowURL string `json:"workflowUrl"`
	view.Options
	view.CallbackHeaders
	Body               string              `json:"body"`
	BodyBase64         string              `json:"bodyBase64,omitempty"`
	MaxRetries         int                 `json:"maxRetries"`
	NotBefore          int64               `json:"notBefore"`
	CreatedAt          int64               `json:"createdAt"`
	WorkflowRunID      string              `json:"workflowRunId"`
	WorkflowCreatedAt  int64               `json:"workflowCreatedAt"`
	ResponseStatus     int                 `json:"responseStatus"`
	ResponseHeader     map[string][]string `json:"responseHeader,omitempty"`
	ResponseBody       string              `json:"responseBody"`
	ResponseBodyBase64 string              `json:"responseBodyBase64,omitempty"`
	// Error says why there was no answer. It is a Trireme extension.
	Error                string             `json:"error,omitempty"`
	FailureCallbackInfo  *view.CallbackInfo `json:"failureCallbackInfo,omitempty"`
	FailureFunctionState string             `json:"failureFunctionState,omitempty"`
}

// renderDead returns the dead letter of a run, with at most trim bytes of each body. Its failure callback may be the one of the message that failed.
func renderDead(store *workflow.Store, r *workflow.Run, prefix string, trim int) *deadLetter {
	show := view.Redactor{Hide: r.Redact, Trim: trim}
	n := &deadLetter{
		DlqID: r.Dead.String(), URL: r.URL, WorkflowURL: r.URL, MaxRetries: r.Retries, NotBefore: r.Created, CreatedAt: r.Created,
		WorkflowRunID: r.ID, WorkflowCreatedAt: r.Created,
	}
	o := r.Options
	o.Method, o.Failure = "", store.FailureCallback(r)
	n.Options, n.CallbackHeaders = view.NewOptions(&o, r.CallerIP)
	n.Options.Header = show.Header(startHeader(r, o.Failure, prefix))
	if e, ok := store.Entry(r.No, 0); ok {
		n.Body, n.BodyBase64 = show.Body(e.Body.Bytes())
		n.NotBefore = e.FirstAt
	}
	if f := r.Fault; f != nil {
		n.MessageID, n.MaxRetries, n.Error = f.Message.String(), f.Retries, f.Error
		n.ResponseStatus, n.ResponseHeader = f.Response.Status, view.Header(f.Response.Header)
		n.ResponseBody, n.ResponseBodyBase64 = view.Redactor{Trim: trim}.Body(f.Response.Body)
	}
	if c := r.Callback; c != nil {
		n.FailureFunctionState = c.State.String()
		n.FailureCallbackInfo = view.NewCallbackInfo(c.State.String(), c.Response, show)
	}
	return n
}

// getDead answers one dead letter.
func (re *request) getDead(id string) (n *deadLetter, err error) {
	if t, ok := queue.ParseStamp(id); ok {
		err = re.view(func(v *fsm.View) {
			if r, ok := v.Workflows().DeadRun(t); ok {
				n = renderDead(v.Workflows(), r, re.prefix(), view.All)
			}
		})
	}
	if err == nil && n == nil {
		err = noDead(id)
	}
	return n, err
}

// deadPage is a page of dead letters.
type deadPage struct {
	Cursor   string        `json:"cursor,omitempty"`
	Messages []*deadLetter `json:"messages"`
}

// listDead answers a page of dead letters, or of their causes; the oldest failure first unless the request says otherwise.
func (re *request) listDead() (any, error) {
	s, err := re.readDeadQuery()
	if err != nil {
		return nil, err
	}
	after, err := messages.ReadCursor("cursor", s.cursor)
	if err != nil {
		return nil, err
	}
	if s.causes {
		return re.listCauses(s, after)
	}
	page := &deadPage{Messages: []*deadLetter{}}
	if s.none {
		return page, nil
	}
	show := func(v *fsm.View, r **workflow.Run) (queue.Stamp, int) {
		n := renderDead(v.Workflows(), *r, re.prefix(), s.trim)
		page.Messages = append(page.Messages, n)
		if len(s.dead) > 0 { // what is named has no pages
			return (*r).Dead, 0
		}
		return (*r).Dead, len(n.Body) + len(n.BodyBase64) + len(n.ResponseBody) + len(n.ResponseBodyBase64)
	}
	page.Cursor, err = messages.ReadPage(re.r.Context(), re.Engine, queue.Page{After: after, Limit: s.limit, Newest: s.newest},
		func(v *fsm.View, p queue.Page) ([]*workflow.Run, queue.Stamp, bool) {
			return v.Workflows().DeadRuns(s.dead, &s.filter, p)
		}, show)
	return page, err
}

// listCauses answers the causes of a page of dead letters, the most frequent first.
func (re *request) listCauses(s *listQuery, after queue.Stamp) (*messages.CausePage, error) {
	causes := messages.Causes{}
	if s.none {
		return causes.Page(""), nil
	}
	cursor, err := messages.ReadPage(re.r.Context(), re.Engine, queue.Page{After: after, Limit: messages.CausesLooked, Newest: s.newest},
		func(v *fsm.View, p queue.Page) ([]*workflow.Run, queue.Stamp, bool) {
			return v.Workflows().DeadRuns(s.dead, &s.filter, p)
		}, func(_ *fsm.View, r **workflow.Run) (queue.Stamp, int) {
			fault := cmp.Or((*r).Fault, &workflow.Fault{})
			c := queue.Content{URL: (*r).URL}
			causes.Add(c.Host(), &fault.Response, fault.Error, (*r).Dead)
			if len(s.dead) > 0 { // what is named has no pages
				return (*r).Dead, 0
			}
			return (*r).Dead, len(fault.Response.Body)
		})
	return causes.Page(cursor), err
}
