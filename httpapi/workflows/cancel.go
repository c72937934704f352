package workflows

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"trireme/fsm"
	"trireme/fsm/flow"
	"trireme/fsm/queue"
	"trireme/httpapi/messages"
)

// values are the parameters of a selection, of the query string and of a JSON body alike: older clients send the names of
// the query in a body.
type values map[string][]string

// selection reads them. An empty body says nothing; numbers and truth values of a body are read as texts.
func (q *request) selection() (values, error) {
	v := values(q.parameters())
	body, err := q.body()
	if err != nil || len(strings.TrimSpace(string(body))) == 0 {
		return v, err
	}
	var in map[string]json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, messages.Invalid("invalid selection: a JSON object is wanted: %s", err)
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

// list are the values of a name, each of which may be a comma-separated list.
func (v values) list(name string) (list []string) {
	for _, one := range v[name] {
		for part := range strings.SplitSeq(one, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
	}
	return list
}

// whole are the values of a name that may hold commas.
func (v values) whole(name string) (list []string) {
	for _, one := range v[name] {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

func (v values) get(name string) string {
	if len(v[name]) == 0 {
		return ""
	}
	return strings.TrimSpace(v[name][0])
}

func (v values) truth(name string) bool { return strings.EqualFold(v.get(name), "true") }

// number is a whole number of 0 or more; 0 if the name is not there.
func (v values) number(name string) (int64, error) {
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

// nothing tells whether one of some names is given but names nothing: that must not mean everything.
func (v values) nothing(names ...string) bool {
	for _, name := range names {
		if _, given := v[name]; given && len(v.list(name)) == 0 {
			return true
		}
	}
	return false
}

// names of parameters that a filter of runs knows, beside those of the lists that they are used in.
var filterNames = []string{
	"workflowRunIds", "workflowRunId", "workflowUrl", "workflowUrlExactMatch", "url", "label", "labels", "callerIp", "callerIP", "flowControlKey", "host", "path",
	"fromDate", "toDate", "workflowCreatedAt", "messageId", "state", "workflowRuns",
}

// filter reads which runs are meant.
func (v values) filter() (f flow.Filter, err error) {
	both := func(names ...string) (list []string) {
		for _, n := range names {
			list = append(list, v.list(n)...)
		}
		return list
	}
	f = flow.Filter{
		RunIDs: both("workflowRunIds", "workflowRunId"), URLs: slices.Concat(v.whole("workflowUrl"), v.whole("url")), Labels: both("label", "labels"),
		CallerIPs: both("callerIp", "callerIP"), FlowKeys: v.list("flowControlKey"), Hosts: v.list("host"), Paths: v.list("path"),
	}
	for _, part := range []struct {
		name string
		to   *int64
	}{{"fromDate", &f.From}, {"toDate", &f.To}, {"workflowCreatedAt", &f.Created}} {
		if *part.to, err = v.number(part.name); err != nil {
			return f, err
		}
	}
	for _, text := range v.list("state") {
		s, ok := flow.ParseRunState(strings.ToUpper(text))
		if !ok {
			return f, messages.Invalid("invalid state %q", text)
		}
		f.States = append(f.States, s)
	}
	for _, text := range v.list("messageId") {
		id, _ := queue.ParseID(text) // what is no id chooses nothing
		f.Messages = append(f.Messages, id)
	}
	for _, text := range v.list("workflowRuns") {
		id, at, _ := strings.Cut(text, "@")
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return f, messages.Invalid("invalid workflowRuns %q: id@createdAt is wanted", text)
		}
		f.Exact = append(f.Exact, flow.RunRef{ID: id, Created: n})
	}
	return f, nil
}

// cancel answers DELETE /v2/workflows/runs. Without a filter all runs are meant, up to count.
func (q *request) cancel() error {
	v, err := q.selection()
	if err != nil {
		return err
	}
	for name := range v {
		if name != "count" && name != "cursor" && !slices.Contains(filterNames, name) {
			return messages.Invalid("unknown filter %q", name)
		}
	}
	if v.nothing(filterNames...) {
		q.answer(http.StatusOK, map[string]int{"cancelled": 0})
		return nil
	}
	n := flow.Cancellation{}
	if n.Filter, err = v.filter(); err != nil {
		return err
	}
	n.URLPrefix = !v.truth("workflowUrlExactMatch")
	count, err := v.number("count")
	if err != nil {
		return err
	}
	total := 0
	for {
		n.Limit = int(max(count-int64(total), 0))
		out, err := propose(q, fsm.CancelRuns, n)
		if err != nil {
			return err
		}
		total += out.Count
		if !out.More || count > 0 && int64(total) >= count {
			break
		}
		n.After = out.Cursor
	}
	q.answer(http.StatusOK, map[string]int{"cancelled": total})
	return nil
}
