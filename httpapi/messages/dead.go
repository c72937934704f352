package messages

import (
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// deadLetter is a dead letter as clients read it: the message, and how its last attempt
// went.
type deadLetter struct {
	*message
	DlqID              string              `json:"dlqId"`
	ResponseStatus     int                 `json:"responseStatus"`
	ResponseHeader     map[string][]string `json:"responseHeader,omitempty"`
	ResponseBody       string              `json:"responseBody,omitempty"`
	ResponseBodyBase64 string              `json:"responseBodyBase64,omitempty"`
	// Error says why there was no answer. It is a Trireme extension.
	Error               string             `json:"error,omitempty"`
	FailureCallbackInfo *view.CallbackInfo `json:"failureCallbackInfo,omitempty"`
}

func renderDead(d *queue.DeadInfo, trim int) *deadLetter {
	show := view.Redactor{Trim: trim}
	n := &deadLetter{
		message: render(d.Message.ID, d.Message.Content, trim), DlqID: d.Stamp.String(), Error: d.Error,
		ResponseStatus: d.Response.Status, ResponseHeader: view.Header(d.Response.Header),
	}
	n.ResponseBody, n.ResponseBodyBase64 = show.Body(d.Response.Body)
	if d.Callback.State != queue.CallbackNone {
		n.FailureCallbackInfo = view.NewCallbackInfo(d.Callback.State.String(), d.Callback.Response, show)
	}
	return n
}

func noDeadLetter(id string) *Error { return NotFound("dlq message", id) }

func (re *request) getDead(text string) error {
	t, ok := queue.ParseStamp(text)
	if !ok {
		return noDeadLetter(text)
	}
	return answerOne(re, noDeadLetter(text), func(v *fsm.View) *deadLetter {
		if d, ok := v.Messages().DeadLetter(t); ok {
			return renderDead(&d, view.All)
		}
		return nil
	})
}

// listDead answers a page of dead letters.
func (re *request) listDead() error {
	if re.ofRuns() {
		return re.runs.ListDead(re.w, re.r, &re.Target)
	}
	query, err := re.readDead(re.Query, inDeadList)
	if err != nil {
		return err
	}
	if query.groupBy == byCause {
		return re.listCauses(&query)
	}
	all, cursor := []*deadLetter{}, ""
	if !query.none {
		cursor, err = ReadPage(re.r.Context(), re.Engine, query.page, func(v *fsm.View, page queue.Page) ([]queue.DeadInfo, queue.Stamp, bool) {
			return v.Messages().DeadLetters(query.dead, &query.filter, page)
		}, func(_ *fsm.View, d *queue.DeadInfo) (queue.Stamp, int) {
			all = append(all, renderDead(d, query.trim))
			if len(query.dead) > 0 { // what is named has no pages
				return d.Stamp, 0
			}
			return d.Stamp, query.show().Size(len(d.Message.Content.Body)) + query.show().Size(d.Response.BodySize())
		})
	}
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, struct {
		Cursor   string        `json:"cursor,omitempty"`
		Messages []*deadLetter `json:"messages"`
	}{cursor, all})
	return nil
}

func (re *request) deleteOne(text string) error {
	t, ok := queue.ParseStamp(text)
	if !ok {
		return noDeadLetter(text)
	}
	return perform(re, fsm.DeleteDead, queue.DeadSelection{IDs: []queue.Stamp{t}, Strict: true})
}

// deleteMany deletes one page of the dead letters that the request selects.
func (re *request) deleteMany() error {
	query, err := re.readDead(re.Query, inDead)
	if err != nil {
		return err
	}
	n, total, more := query.selection(), 0, !query.none
	for more && total < query.page.Limit {
		n.Limit = query.page.Limit - total
		out, err := fsm.Do(re.r.Context(), re.Engine, fsm.DeleteDead, n)
		if err != nil {
			return err
		}
		total += out.Count
		n.After, more = out.Cursor, out.More
	}
	re.answer(http.StatusOK, struct {
		Deleted int    `json:"deleted"`
		Cursor  string `json:"cursor,omitempty"`
	}{total, cursorText(n.After, more)})
	return nil
}

// overrides returns the options by which a retry replaces the original's, and the query string without them.
func (re *request) overrides() (o queue.Options, query string, err error) {
	asked, query := splitQuery(re.Query, re.Parser.Prefixes)
	o, err = re.Parser.options(readFields(re.r.Header, re.Parser.Prefixes).over(asked), nil)
	if err != nil {
		return o, query, err
	}
	if err = re.Known(re.r.Context(), &o); err != nil {
		return o, query, err
	}
	return o, query, re.Parser.checkCallbacks(&queue.Publication{Options: o})
}

func (re *request) retryOne(text string) error {
	t, ok := queue.ParseStamp(text)
	if !ok {
		return noDeadLetter(text)
	}
	o, _, err := re.overrides()
	if err != nil {
		return err
	}
	out, err := fsm.Do(re.r.Context(), re.Engine, fsm.RetryDead, queue.DeadRetry{
		DeadSelection: queue.DeadSelection{IDs: []queue.Stamp{t}, Strict: true}, Options: o,
	})
	if err != nil {
		return err
	}
	re.answer(http.StatusCreated, published{MessageID: out.Messages[0].ID.String()})
	return nil
}

// retryMany publishes again one page of the dead letters that the request selects.
func (re *request) retryMany() error {
	o, query, err := re.overrides()
	if err != nil {
		return err
	}
	selected, err := re.readDead(query, inDead)
	if err != nil {
		return err
	}
	all, more := []published{}, !selected.none
	n := queue.DeadRetry{DeadSelection: selected.selection(), Options: o}
	for more && len(all) < selected.page.Limit {
		n.Limit = selected.page.Limit - len(all)
		out, err := fsm.Do(re.r.Context(), re.Engine, fsm.RetryDead, n)
		if err != nil {
			return err
		}
		for _, m := range out.Messages {
			all = append(all, published{MessageID: m.ID.String()})
		}
		n.After, more = out.Cursor, out.More
	}
	re.answer(http.StatusCreated, struct {
		Cursor    string      `json:"cursor,omitempty"`
		Responses []published `json:"responses"`
	}{cursorText(n.After, more), all})
	return nil
}
