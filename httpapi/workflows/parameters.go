package workflows

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// filter is one filter of runs: its name in query strings and in JSON bodies, what it means
// (for the table in docs/workflows.md), and what sets it. A filter is added by a row here and
// its row there.
type filter struct {
	name string
	// dead: it is for dead letters only.
	dead  bool
	means string
	set   func(f *workflow.DeadFilter, v params, name string) error
}

// texts sets a field that holds texts; a value may be a list, joined by commas.
func texts(field func(*workflow.DeadFilter) *[]string) func(*workflow.DeadFilter, params, string) error {
	return func(f *workflow.DeadFilter, v params, name string) error {
		*field(f) = append(*field(f), v.list(name)...)
		return nil
	}
}

// urls reads URLs, which may be joined by commas.
func urls(f *workflow.DeadFilter, v params, name string) error {
	for _, value := range v.whole(name) {
		f.URLs = append(f.URLs, messages.SplitURLs(value)...)
	}
	return nil
}

// bound sets a time in unix milliseconds.
func bound(field func(*workflow.DeadFilter) *int64) func(*workflow.DeadFilter, params, string) error {
	return func(f *workflow.DeadFilter, v params, name string) (err error) {
		*field(f), err = v.number(name)
		return err
	}
}

// states reads names of states, in any case of letters.
func states[S any](field func(*workflow.DeadFilter) *[]S, parse func(string) (S, bool), allowed []string) func(*workflow.DeadFilter, params, string) error {
	return func(f *workflow.DeadFilter, v params, name string) error {
		for _, text := range v.list(name) {
			s, ok := parse(strings.ToUpper(text))
			if !ok {
				return messages.Invalid("invalid %s %q: use %s", name, text, strings.Join(allowed, ", "))
			}
			*field(f) = append(*field(f), s)
		}
		return nil
	}
}

// The states that filters take.
var (
	runStates      = namesOf(workflow.Started, workflow.Succeeded, workflow.Failed, workflow.Canceled)
	callbackStates = namesOf(workflow.CallbackInProgress, workflow.CallbackSuccess, workflow.CallbackFail, workflow.CallbackCanceled)
)

func namesOf[S fmt.Stringer](states ...S) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.String()
	}
	return names
}

func callbacks(f *workflow.DeadFilter) *[]workflow.CallbackState { return &f.Callbacks }

func runIDs(f *workflow.DeadFilter) *[]string    { return &f.RunIDs }
func labels(f *workflow.DeadFilter) *[]string    { return &f.Labels }
func callerIPs(f *workflow.DeadFilter) *[]string { return &f.CallerIPs }

var filters = []filter{
	{"workflowRunIds", false, "ids of runs", texts(runIDs)},
	{"workflowRunId", false, "the same", texts(runIDs)},
	{"workflowRuns", false, "runs as `id@createdAt`; nothing else counts then", readRunRefs},
	{"workflowUrl", false, "URL of the workflow; several are joined by commas", urls},
	{"url", false, "the same", urls},
	{"workflowUrlExactMatch", false, "`true`: cancel only runs of exactly that URL", func(*workflow.DeadFilter, params, string) error { return nil }}, // read by cancel
	{"state", false, "state of the run", states(func(f *workflow.DeadFilter) *[]workflow.RunState { return &f.States }, workflow.ParseRunState, runStates)},
	{"label", false, "label", texts(labels)},
	{"labels", false, "the same", texts(labels)},
	{"callerIp", false, "address of the client that triggered the run", texts(callerIPs)},
	{"callerIP", false, "the same", texts(callerIPs)},
	{"flowControlKey", false, "flow-control key", texts(func(f *workflow.DeadFilter) *[]string { return &f.FlowKeys })},
	{"deployment", false, "deployment that the run is on, or was on at its end", texts(func(f *workflow.DeadFilter) *[]string { return &f.Deployments })},
	{"host", false, "host of the URL", texts(func(f *workflow.DeadFilter) *[]string { return &f.Hosts })},
	{"path", false, "path of the URL", texts(func(f *workflow.DeadFilter) *[]string { return &f.Paths })},
	{"messageId", false, "messages, of which the run has one", readMessageIDs},
	{"fromDate", false, "earliest time, in unix milliseconds", bound(func(f *workflow.DeadFilter) *int64 { return &f.From })},
	{"toDate", false, "latest time, in unix milliseconds", bound(func(f *workflow.DeadFilter) *int64 { return &f.To })},
	{"workflowCreatedAt", false, "time of creation, in unix milliseconds", bound(func(f *workflow.DeadFilter) *int64 { return &f.Created })},
	{"failureFunctionState", true, "state of the failure callback", states(callbacks, workflow.ParseCallbackState, callbackStates)},
	{"failureCallbackState", true, "the same", states(callbacks, workflow.ParseCallbackState, callbackStates)},
	{"responseStatus", true, "status of the last answer", readStatuses},
}

// filterNames returns the names of filters, with those for dead letters only or without.
func filterNames(dead bool) (names []string) {
	for _, f := range filters {
		if dead || !f.dead {
			names = append(names, f.name)
		}
	}
	return names
}

// runFilter reads which runs are meant.
func (p params) runFilter() (workflow.Filter, error) {
	f, err := p.read(false)
	return f.Filter, err
}

// deadFilter reads a filter of dead letters. Run ids may be the beginnings of ids.
func (p params) deadFilter() (workflow.DeadFilter, error) {
	f, err := p.read(true)
	f.IDPrefix = true
	return f, err
}

func (p params) read(dead bool) (f workflow.DeadFilter, err error) {
	for _, one := range filters {
		if _, given := p[one.name]; !given || one.dead && !dead {
			continue
		}
		if err := one.set(&f, p, one.name); err != nil {
			return f, err
		}
	}
	return f, nil
}

func readMessageIDs(f *workflow.DeadFilter, v params, name string) error {
	for _, text := range v.list(name) {
		id, _ := queue.ParseID(text) // what is no id chooses nothing
		f.Messages = append(f.Messages, id)
	}
	return nil
}

func readRunRefs(f *workflow.DeadFilter, v params, name string) error {
	for _, text := range v.list(name) {
		id, at, _ := strings.Cut(text, "@")
		n, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return messages.Invalid("invalid %s %q: expected id@createdAt", name, text)
		}
		f.Exact = append(f.Exact, workflow.RunRef{ID: id, Created: n})
	}
	return nil
}

func readStatuses(f *workflow.DeadFilter, v params, name string) error {
	for _, text := range v[name] {
		n, err := (params{name: {text}}).number(name)
		if err != nil {
			return err
		}
		f.Statuses = append(f.Statuses, int(n))
	}
	return nil
}
