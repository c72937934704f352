package workflows

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// params are the parameters of a selection, of the query string and of a JSON body alike: older clients send the names of
// the query in a body.
type params map[string][]string

// selection reads them. An empty body says nothing; numbers and truth values of a body are read as texts.
func (q *request) selection() (params, error) {
	v := params(q.parameters())
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

// whole are the values of a name that may hold commas.
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

// number is a whole number of 0 or more; 0 if the name is not there.
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

// cancel answers DELETE /v2/workflows/runs. Without a filter all runs are meant, up to count.
func (q *request) cancel() error {
	v, err := q.selection()
	if err != nil {
		return err
	}
	for name := range v {
		if name != "count" && name != "cursor" && !slices.Contains(filterNames(false), name) {
			return messages.Invalid("unknown filter %q", name)
		}
	}
	if v.nothing(filterNames(false)...) {
		q.answer(http.StatusOK, map[string]int{"cancelled": 0})
		return nil
	}
	n := workflow.Cancellation{}
	if n.Filter, err = v.runFilter(); err != nil {
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
