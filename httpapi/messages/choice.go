package messages

import (
	"net/url"
	"strconv"
	"strings"

	"trireme/fsm/queue"
)

// choice is what a request for a list, or for a change of many, selects.
type choice struct {
	filter queue.Filter
	page   queue.Page
	// dead are the dead letters that it names.
	dead []queue.Stamp
	// grouped: the events of each message are wanted together.
	grouped bool
	// none: it selects nothing, whatever there is.
	none bool
}

// maxPageBytes bounds the bodies that one page shows, in bytes: a page that would be
// larger ends early, with a cursor. One element is always shown.
const maxPageBytes = 8 << 20

// selection is the choice as an operation takes it.
func (c *choice) selection() queue.DeadSelection {
	return queue.DeadSelection{IDs: c.dead, Filter: c.filter, After: c.page.After}
}

// parameters are those of a query string and of a JSON body, without the token.
func (q *request) parameters(query string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, invalid("invalid query: %s", err)
	}
	delete(values, tokenParameter)
	body, err := q.body(q.MaxBody)
	if err != nil {
		return nil, err
	}
	return values, readBody(body, values)
}

// readDead reads a selection of dead letters. An unknown name is refused: a mistyped
// filter must never mean everything. listed takes the order of a list too.
func (q *request) readDead(query string, listed bool) (c choice, err error) {
	values, err := q.parameters(query)
	if err != nil {
		return c, err
	}
	c.page.Limit = queue.MaxDeadPage
	for name, list := range values {
		switch name {
		case "dlqIds":
			c.readDeadIDs(list)
		case "messageId":
			c.readIDs(list)
		case "responseStatus":
			err = c.readStatuses(list)
		case "source": // this list holds plain messages only
			c.none = c.none || one(list) == "workflow"
		case "api":
		case "host", "path":
			err = invalid("unknown filter %q", name)
		case "order":
			if !listed {
				return c, invalid("unknown filter %q", name)
			}
			err = c.readPage(name, list, queue.MaxDeadPage)
		case "count", "cursor":
			err = c.readPage(name, list, queue.MaxDeadPage)
		default:
			err = readFilter(&c.filter, name, list)
		}
		if err != nil {
			return c, err
		}
	}
	if len(c.dead) > 0 {
		c.page.After = queue.Stamp{} // the ids say it all
		c.page.Limit = max(c.page.Limit, len(c.dead))
	}
	return c, nil
}

// readDeadIDs reads ids of dead letters. Others are those of none, and so is an empty
// list.
func (c *choice) readDeadIDs(list []string) {
	for _, text := range split(list) {
		if t, ok := queue.ParseStamp(text); ok {
			c.dead = append(c.dead, t)
		}
	}
	c.none = c.none || len(c.dead) == 0
}

// readIDs reads ids of messages.
func (c *choice) readIDs(list []string) {
	for _, text := range split(list) {
		if id, ok := queue.ParseID(text); ok {
			c.filter.IDs = append(c.filter.IDs, id)
		}
	}
	c.none = c.none || len(c.filter.IDs) == 0
}

func (c *choice) readStatuses(list []string) error {
	for _, text := range split(list) {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return invalid("invalid responseStatus %q: a number is wanted", text)
		}
		c.filter.Statuses = append(c.filter.Statuses, int(n))
	}
	return nil
}

// readPage reads which part of a list is wanted; a count above the most is the most.
func (c *choice) readPage(name string, list []string, most int) error {
	text := one(list)
	switch name {
	case "count":
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return invalid("invalid count %q: 1 to %d is wanted", text, most)
		}
		c.page.Limit = min(int(n), most)
	case "cursor":
		t, ok := queue.ParseStamp(text)
		if !ok && text != "" {
			return invalid("invalid cursor %q", text)
		}
		c.page.After = t
	case "order":
		c.page.Newest = strings.EqualFold(text, "latestFirst")
		if !c.page.Newest && !strings.EqualFold(text, "earliestFirst") {
			return invalid("invalid order %q: earliestFirst or latestFirst is wanted", text)
		}
	}
	return nil
}

// one is the value of a parameter that has a single one.
func one(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
