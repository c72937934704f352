package workflows

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// params are the parameters of a selection, of the query string and of a JSON body alike: older clients send the names of
// the query in a body.
type params map[string][]string

// selection reads the parameters of a selection. An empty body has none; numbers and truth values of a body are read as texts.
func (re *request) selection() (params, error) {
	v := params(re.parameters())
	body, err := re.json(jsonbody.Bounds{Values: jsonbody.MaxSelected})
	if err != nil || len(strings.TrimSpace(string(body))) == 0 {
		return v, err
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, messages.Invalid("invalid selection: expected a JSON object: %s", jsonbody.Fault(err))
	}
	for name, raw := range in {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		if _, given := v[name]; !given {
			v[name] = nil // named, if by an empty list
		}
		for _, one := range list {
			var text string
			if json.Unmarshal(one, &text) != nil {
				text = string(one)
			}
			if text != "null" {
				v[name] = append(v[name], text)
			}
		}
	}
	return v, nil
}

// list returns the values of a name, each of which may be a comma-separated list.
func (p params) list(name string) []string { return messages.Split(p[name]) }

// whole returns the values of a name that may hold commas.
func (p params) whole(name string) (list []string) {
	for _, one := range p[name] {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

func (p params) get(name string) string { return strings.TrimSpace(view.First(p[name])) }

func (p params) truth(name string) bool { return strings.EqualFold(p.get(name), "true") }

// number returns the value of a name, a whole number of 0 or more; 0 if the name is not there.
func (p params) number(name string) (int64, error) {
	text := p.get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, messages.Invalid("invalid %s %q: a number of 0 or more is wanted", name, text)
	}
	return n, nil
}

// nothing reports whether one of some names is given but names nothing: that must not mean everything.
func (p params) nothing(names ...string) bool {
	for _, name := range names {
		if _, given := p[name]; given && len(p.list(name)) == 0 {
			return true
		}
	}
	return false
}

// cancel answers DELETE /v2/workflows/runs. Named runs are cancelled when it answers; a bulk action cancels those that
// filters select, or all without a filter.
func (re *request) cancel() error {
	v, err := re.selection()
	if err != nil {
		return err
	}
	none, async, n, err := v.cancellation()
	switch {
	case err != nil:
		return err
	case re.admits(&n.Filter) != nil:
		return re.admits(&n.Filter)
	case none:
		re.answer(http.StatusAccepted, map[string]int{"cancelled": 0})
		return nil
	case !n.Named():
		return re.StartBulk(re.w, re.r, re.bulkOf(&n.Filter), async)
	}
	total := 0
	for more := true; more; {
		out, err := propose(re, fsm.CancelRuns, n)
		if err != nil {
			return err
		}
		total += out.Count
		n.After, more = out.Cursor, out.More
	}
	re.answer(http.StatusAccepted, map[string]int{"cancelled": total})
	return nil
}

// cancellation reads which runs are to be cancelled. none reports that a parameter is given but names no run, which must
// not mean every run. A count is taken and ignored, as the reference does: all that match are cancelled.
func (p params) cancellation() (none, async bool, n workflow.Cancellation, err error) {
	for name := range p {
		if name != "count" && name != "cursor" && name != "async" && !slices.Contains(filterNames(false), name) {
			return none, async, n, messages.Invalid("unknown filter %q", name)
		}
	}
	if async, err = messages.Truth("async", p["async"]); err != nil {
		return none, async, n, err
	}
	n.Filter, err = p.runFilter()
	n.URLPrefix = len(n.URLs) > 0 && !p.truth("workflowUrlExactMatch")
	return p.nothing(filterNames(false)...), async, n, err
}

// bulkOf returns the bulk actions of runs; a start cancels those that f chooses.
func (re *request) bulkOf(f *workflow.Filter) *messages.Bulk {
	return &messages.Bulk{
		Table:  func(v *fsm.View) *queue.BulkTable { return v.Workflows().Bulk() },
		Filter: showFilter,
		Ask: func(n queue.BulkRequest) (queue.BulkAction, error) {
			return propose(re, fsm.BulkCancelRuns, workflow.BulkCancellation{BulkRequest: n, Filter: *f})
		},
		Count: func() (int, error) {
			return re.CountBulk(re.r.Context(), func(v *fsm.View, at uint64) (int, uint64, bool) { return v.Workflows().CountActive(f, at) })
		},
	}
}

// bulkActions answers /v2/workflows/bulkActions and what is below it.
func (re *request) bulkActions() error {
	f := &workflow.Filter{}
	if strings.EqualFold(re.Segment(2), "preview") {
		none, _, n, err := params(re.parameters()).cancellation()
		switch {
		case err != nil:
			return err
		case none || n.Named():
			return messages.Invalid("invalid workflowRunIds: a preview is of filters")
		}
		f = &n.Filter
	}
	return re.ServeBulk(re.w, re.r, &re.Target, 2, re.bulkOf(f))
}

// showFilter shows a filter by the names of the parameters.
func showFilter(coded []byte) map[string][]string {
	var f workflow.Filter
	wire.NewReader(coded).Get(&f)
	values := map[string][]string{
		"workflowUrl": f.URLs, "host": f.Hosts, "path": f.Paths, "label": f.Labels, "flowControlKey": f.FlowKeys, "callerIp": f.CallerIPs, "deployment": f.Deployments,
	}
	if len(f.URLs) > 0 && !f.URLPrefix {
		values["workflowUrlExactMatch"] = []string{"true"}
	}
	for _, s := range f.States {
		values["state"] = append(values["state"], s.String())
	}
	return messages.ShowFilter(values, map[string]int64{"workflowCreatedAt": f.Created, "fromDate": f.From, "toDate": f.To})
}

// end answers DELETE /v2/workflows/runs/{id}: with cancel=false its endpoint ends the run with success, and the body is
// its result; otherwise it is cancelled.
func (re *request) end(id string) error {
	if re.parameters().Get("cancel") != "false" {
		out, err := propose(re, fsm.CancelRuns, workflow.Cancellation{Filter: workflow.Filter{RunIDs: []string{id}}, Strict: true})
		if err != nil {
			return err
		}
		re.answer(http.StatusOK, map[string]int{"cancelled": out.Count})
		return nil
	}
	body, err := re.body()
	if err != nil {
		return err
	}
	out, err := propose(re, fsm.EndRun, workflow.Ending{RunID: id, Result: body, HasResult: len(body) > 0})
	if errors.Is(err, queue.ErrNotFound) { // an SDK throws on 404, and would never be done
		out, err = workflow.RunRef{ID: id, State: workflow.Succeeded}, nil
	}
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, map[string]string{"workflowRunId": out.ID, "workflowState": out.State.String()})
	return nil
}
