package workflows

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/messages"
	"github.com/trireme-dev/trireme/httpapi/view"
)

const (
	// maxRuns is the most runs of a page of logs, and their number if the request gives no count.
	maxRuns = 10
	// maxDeadLetters is the most dead letters of a page.
	maxDeadLetters = 100
)

// listQuery selects the content of a list.
type listQuery struct {
	filter workflow.DeadFilter
	limit  int
	cursor string
	// dead are the dead letters that are named; none says that a name can't be that of a dead letter.
	dead []queue.Stamp
	none bool
	// trim is the most bytes of a text, negative for all.
	trim int
	// newest asks for the newest dead letters first, causes for what they have in common.
	newest, causes bool
}

// Names of parameters of lists in addition to those of filters.
var (
	listNames     = append([]string{"count", "cursor"}, filterNames(false)...)
	runNames      = append([]string{"groupBy", "trimBody"}, listNames...)
	deadListNames = append([]string{"trimBody", "order", "groupBy"}, deadNames...)
	deadNames     = append([]string{"dlqIds", "source", "count", "cursor"}, filterNames(true)...)
)

// readListQuery reads what a list is to show, with most elements on a page at most. An unknown name is refused.
func (re *request) readListQuery(known []string, most int) (*listQuery, params, error) {
	v, err := re.selection()
	if err != nil {
		return nil, nil, err
	}
	delete(v, messages.TokenParameter)
	for name := range v {
		if !slices.Contains(known, name) {
			return nil, nil, messages.Invalid("unknown filter %q", name)
		}
	}
	c := &listQuery{limit: most, cursor: v.get("cursor"), trim: view.All}
	if c.filter.Filter, err = v.runFilter(); err != nil {
		return nil, nil, err
	}
	if err := c.size(v, most); err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"workflowRunId", "workflowRunIds", "messageId", "workflowRuns"} { // what names nothing must not mean everything
		if _, given := v[name]; given && len(v.list(name)) == 0 {
			c.none = true
		}
	}
	return c, v, nil
}

// size reads the size of a page; a count above most counts as most.
func (lq *listQuery) size(v params, most int) error {
	count, err := v.number("count")
	if err != nil {
		return err
	}
	if count > 0 {
		lq.limit = int(min(count, int64(most)))
	}
	if text := v.get("trimBody"); text != "" {
		if lq.trim, err = messages.ReadTrim("trimBody", text); err != nil {
			return err
		}
	}
	return nil
}

// arrange reads the order of dead letters and how they are grouped.
func (lq *listQuery) arrange(v params) error {
	switch order := v.get("order"); order {
	case "", "earliestFirst", "latestFirst":
		lq.newest = order == "latestFirst"
	default:
		return messages.Invalid("invalid order %q: expected earliestFirst or latestFirst", order)
	}
	switch way := v.get("groupBy"); way {
	case "", "cause":
		lq.causes = way != ""
	default:
		return messages.Invalid("invalid groupBy %q: expected cause", way)
	}
	return nil
}

// readDeadQuery reads what a list of dead letters is to show.
func (re *request) readDeadQuery() (*listQuery, error) {
	c, v, err := re.readListQuery(deadListNames, maxDeadLetters)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"host", "path"} {
		if _, given := v[name]; given {
			return nil, messages.Invalid("unknown filter %q", name)
		}
	}
	if c.filter, err = v.deadFilter(); err != nil {
		return nil, err
	}
	if err := c.arrange(v); err != nil {
		return nil, err
	}
	for _, text := range v.list("dlqIds") { // what is no id chooses nothing
		if t, ok := queue.ParseStamp(text); ok {
			c.dead = append(c.dead, t)
		}
	}
	if _, given := v["dlqIds"]; given {
		c.none = c.none || len(c.dead) == 0
		c.cursor, c.limit = "", max(len(c.dead), 1) // what is named has no pages
	}
	return c, nil
}
