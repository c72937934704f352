package workflows

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// maxEvents is the most events of a page, and their number if the request gives no count.
const maxEvents = 1000

// eventPage is a page of events.
type eventPage struct {
	Cursor string      `json:"cursor,omitempty"`
	Events []*runEvent `json:"events"`
}

// readEvents answers /v2/workflows/events. Grouped by runs, events are logs.
func (re *request) readEvents() error {
	if re.parameters().Get("groupBy") == "workflowRunId" {
		return show((*request).logs)(re)
	}
	return show((*request).events)(re)
}

// events answers single events of runs, the newest first. They are read off the logs of the runs.
func (re *request) events() (*eventPage, error) {
	s, states, err := re.readEventQuery()
	if err != nil {
		return nil, err
	}
	begin, err := parseMoment(s.cursor)
	page := &eventPage{Events: []*runEvent{}}
	if err != nil || s.none {
		return page, err
	}
	var broken error
	err = re.view(func(v *fsm.View) {
		t := &timeline{store: v.Workflows(), now: v.Now(), trim: s.trim, begin: begin, room: 4 * messages.MaxPageBytes}
		t.gather(s.filter.Filter)
		broken = page.fill(re.r.Context(), t, s.limit, states)
	})
	return page, cmp.Or(err, broken)
}

// readEventQuery reads what a list of events is to show. The states are states of runs and of steps.
func (re *request) readEventQuery() (c *listQuery, states []string, err error) {
	given := re.parameters()
	var ends []workflow.RunState
	for _, text := range params(given).list("state") {
		text = strings.ToUpper(text)
		run, ok := workflow.ParseRunState(text)
		if ok {
			text = run.String()
		} else if !slices.Contains(stepStates, text) {
			return nil, nil, messages.Invalid("invalid state %q: use %s, %s", text, strings.Join(runStates, ", "), strings.Join(stepStates, ", "))
		}
		if ok && run != workflow.Started {
			ends = append(ends, run)
		}
		states = append(states, text)
	}
	given.Del("state")
	own := *re
	own.Query = given.Encode()
	c, _, err = own.readListQuery(runNames, maxEvents)
	if err == nil && len(ends) == len(states) { // only runs that ended so have such an event
		c.filter.States = ends
	}
	return c, states, err
}

// gather adds the runs that a filter selects. Its dates are dates of events.
func (t *timeline) gather(f workflow.Filter) {
	if len(f.Exact) == 0 { // with Exact no other filter counts
		t.from, t.to = f.From, f.To
	}
	f.From, f.To = 0, 0
	t.store.EachLive(&f, t.add)
	t.store.EachVolume(&f, t.addVolume)
	heap.Init(t)
}

// fill takes events of some states, or of all, as long as the page has room. It ends with the context's error when the client no
// longer waits for the page.
func (p *eventPage) fill(ctx context.Context, t *timeline, limit int, states []string) error {
	for size := 0; ; {
		e, at, ok := t.next()
		switch {
		case !ok:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case len(states) > 0 && !slices.Contains(states, e.State):
			continue
		case len(p.Events) == limit || size >= messages.MaxPageBytes:
			p.Cursor = at.String()
			return nil
		}
		size += e.size()
		p.Events = append(p.Events, e)
	}
}
