package workflows

import (
	"encoding/json"
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
)

// params are the parameters of a selection, of the query string and of a JSON body alike: older clients send the names of
// the query in a body.
type params map[string][]string

// selection reads the parameters of a selection. An empty body has none; numbers and truth values of a body are read as texts.
func (q *request) selection() (params, error) {
	v := params(q.parameters())
	body, err := q.json(jsonbody.Bounds{Values: jsonbody.MaxSelected})
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
func (v params) list(name string) (list []string) {
	for _, one := range v[name] {
		for part := range strings.SplitSeq(one, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
	}
	return list
}

// whole returns the values of a name that may hold commas.
func (v params) whole(name string) (list []string) {
	for _, one := range v[name] {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

func (v params) get(name string) string {
	if len(v[name]) == 0 {
		return ""
	}
	return strings.TrimSpace(v[name][0])
}

func (v params) truth(name string) bool { return strings.EqualFold(v.get(name), "true") }

// number returns the value of a name, a whole number of 0 or more; 0 if the name is not there.
func (v params) number(name string) (int64, error) {
	text := v.get(name)
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
func (v params) nothing(names ...string) bool {
	for _, name := range names {
		if _, given := v[name]; given && len(v.list(name)) == 0 {
			return true
		}
	}
	return false
}

// cancel answers DELETE /v2/workflows/runs. Named runs are cancelled when it answers; a bulk action cancels those that
// filters select, or all without a filter.
func (q *request) cancel() error {
	v, err := q.selection()
	if err != nil {
		return err
	}
	none, async, n, err := v.cancellation()
	switch {
	case err != nil:
		return err
	case none:
		q.answer(http.StatusAccepted, map[string]int{"cancelled": 0})
		return nil
	case !n.Named():
		return q.StartBulk(q.w, q.r, q.bulkOf(&n.Filter), async)
	}
	total := 0
	for more := true; more; {
		out, err := propose(q, fsm.CancelRuns, n)
		if err != nil {
			return err
		}
		total += out.Count
		n.After, more = out.Cursor, out.More
	}
	q.answer(http.StatusAccepted, map[string]int{"cancelled": total})
	return nil
}

// cancellation reads which runs are to be cancelled. none reports that a parameter is given but names no run, which must
// not mean every run. A count is taken and ignored, as the reference does: all that match are cancelled.
func (v params) cancellation() (none, async bool, n workflow.Cancellation, err error) {
	for name := range v {
		if name != "count" && name != "cursor" && name != "async" && !slices.Contains(filterNames(false), name) {
			return none, async, n, messages.Invalid("unknown filter %q", name)
		}
	}
	if async, err = messages.Truth("async", v["async"]); err != nil {
		return none, async, n, err
	}
	n.Filter, err = v.runFilter()
	n.URLPrefix = len(n.URLs) > 0 && !v.truth("workflowUrlExactMatch")
	return v.nothing(filterNames(false)...), async, n, err
}

// bulkOf returns the bulk actions of runs; a start cancels those that f chooses.
func (q *request) bulkOf(f *workflow.Filter) *messages.Bulk {
	return &messages.Bulk{
		Table:  func(v *fsm.View) *queue.BulkTable { return v.Workflows().Bulk() },
		Filter: showFilter,
		Ask: func(n queue.BulkRequest) (queue.BulkAction, error) {
			return propose(q, fsm.BulkCancelRuns, workflow.BulkCancellation{BulkRequest: n, Filter: *f})
		},
		Count: func() (int, error) {
			return q.CountBulk(q.r.Context(), func(v *fsm.View, at uint64) (int, uint64, bool) { return v.Workflows().CountActive(f, at) })
		},
	}
}

// bulkActions answers /v2/workflows/bulkActions and what is below it.
func (q *request) bulkActions() error {
	f := &workflow.Filter{}
	if strings.EqualFold(q.Segment(2), "preview") {
		none, _, n, err := params(q.parameters()).cancellation()
		switch {
		case err != nil:
			return err
		case none || n.Named():
			return messages.Invalid("invalid workflowRunIds: a preview is of filters")
		}
		f = &n.Filter
	}
	return q.ServeBulk(q.w, q.r, &q.Target, 2, q.bulkOf(f))
}

// showFilter shows a filter by the names of the parameters.
func showFilter(coded []byte) map[string][]string {
	var f workflow.Filter
	wire.NewReader(coded).Get(&f)
	n := messages.ShownFilter{}
	n.Texts("workflowUrl", f.URLs)
	if len(f.URLs) > 0 && !f.URLPrefix {
		n.Texts("workflowUrlExactMatch", []string{"true"})
	}
	for _, s := range f.States {
		n["state"] = append(n["state"], s.String())
	}
	n.Texts("host", f.Hosts)
	n.Texts("path", f.Paths)
	n.Texts("label", f.Labels)
	n.Texts("flowControlKey", f.FlowKeys)
	n.Texts("callerIp", f.CallerIPs)
	n.Time("workflowCreatedAt", f.Created)
	n.Time("fromDate", f.From)
	n.Time("toDate", f.To)
	return n
}
