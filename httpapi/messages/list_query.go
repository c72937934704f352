package messages

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// listQuery is the selection of a request for a list or for a change of many objects.
type listQuery struct {
	filter queue.Filter
	page   queue.Page
	// most is the largest page.
	most int
	// dead are the dead letters that it names.
	dead []queue.Stamp
	// groupBy says how an answer is grouped; empty for a plain list.
	groupBy grouping
	// span is the length of the spans of grouping byTime, in milliseconds; 0 lets the server choose.
	span int64
	// acts: the request changes what it selects, instead of listing it.
	acts bool
	// none: it selects nothing.
	none bool
	// named: it names messages by their ids.
	named bool
	// trim is the most bytes of a body that are shown, negative for all.
	trim int
	// async: the answer does not wait for the end of a cancellation.
	async bool
}

// MaxPageBytes bounds the bodies that one page shows, in bytes: a page that would be
// larger ends early, with a cursor. One element is always shown.
const MaxPageBytes = 8 << 20

// ReadPage reads a page of at most page.Limit elements, and returns the cursor of the one that follows, empty after the last.
// One read looks at a bounded number of elements, so a page may take several. next returns the elements of one read, the place
// of the last element that it looked at, and whether more may follow. show adds an element to the answer, and returns its place
// and the bytes of its bodies.
func ReadPage[E any](ctx context.Context, engine fsm.Reader, page queue.Page,
	next func(*fsm.View, queue.Page) ([]E, queue.Stamp, bool), show func(*fsm.View, *E) (at queue.Stamp, size int),
) (cursor string, err error) {
	shown, size, limit, more := 0, 0, page.Limit, true
	for more && shown < limit && size < MaxPageBytes {
		page.Limit = limit - shown
		_, err := engine.Read(ctx, fsm.Reading{Long: true}, func(v *fsm.View) {
			var list []E
			last := page.After
			list, page.After, more = next(v, page)
			for i := range list {
				if size >= MaxPageBytes {
					page.After, more = last, true
					return
				}
				at, n := show(v, &list[i])
				last, size, shown = at, size+n, shown+1
			}
		})
		if err != nil {
			return "", err
		}
	}
	return cursorText(page.After, more), nil
}

// cursorText returns the cursor of the page that follows, empty on the last one.
func cursorText(t queue.Stamp, more bool) string {
	if !more {
		return ""
	}
	return t.String()
}

// selection returns the choice as an operation takes it.
func (lq *listQuery) selection() queue.DeadSelection {
	return queue.DeadSelection{IDs: lq.dead, Filter: lq.filter, After: lq.page.After}
}

// queryValues returns the parameters of a query string without the token.
func queryValues(query string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, Invalid("invalid query: %s", err)
	}
	delete(values, TokenParameter)
	return values, nil
}

// parameters returns the parameters of a query string and of a JSON body, without the token.
func (re *request) parameters(query string) (url.Values, error) {
	values, err := queryValues(query)
	if err != nil {
		return nil, err
	}
	body, err := re.json(re.MaxBody, jsonbody.Bounds{Values: jsonbody.MaxSelected})
	if err != nil {
		return nil, err
	}
	return values, readBody(body, values)
}

// readDead reads a selection of dead letters; in says for which request.
func (re *request) readDead(query string, in lists) (c listQuery, err error) {
	values, err := re.parameters(query)
	if err != nil {
		return c, err
	}
	c.page.Limit, c.most = queue.MaxDeadPage, queue.MaxDeadPage
	if err := c.read(values, in); err != nil {
		return c, err
	}
	if len(c.dead) > 0 {
		c.page.After = queue.Stamp{} // the ids say it all
		c.page.Limit = max(c.page.Limit, len(c.dead))
	}
	return c, nil
}

// readDeadIDs reads ids of dead letters. Other ids, and an empty list, select none.
func (lq *listQuery) readDeadIDs(_ string, list []string) error {
	for _, text := range Split(list) {
		if t, ok := queue.ParseStamp(text); ok {
			lq.dead = append(lq.dead, t)
		}
	}
	lq.none = lq.none || len(lq.dead) == 0
	return nil
}

// readIDs reads ids of messages.
func (lq *listQuery) readIDs(_ string, list []string) error {
	for _, text := range Split(list) {
		if id, ok := queue.ParseID(text); ok {
			lq.filter.IDs = append(lq.filter.IDs, id)
		}
	}
	lq.none, lq.named = lq.none || len(lq.filter.IDs) == 0, true
	return nil
}

func (lq *listQuery) readStatuses(name string, list []string) error {
	lq.chose(len(Split(list)))
	for _, text := range Split(list) {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return Invalid("invalid %s %q: expected a number", name, text)
		}
		lq.filter.Statuses = append(lq.filter.Statuses, int(n))
	}
	return nil
}

// readCount reads the number of elements of a page; a count above most counts as most.
func (lq *listQuery) readCount(name string, list []string) error {
	n, err := strconv.ParseUint(view.First(list), 10, 31)
	if err != nil || n == 0 {
		return Invalid("invalid %s %q: expected 1 to %d", name, view.First(list), lq.most)
	}
	lq.page.Limit = min(int(n), lq.most)
	return nil
}

func (lq *listQuery) readCursor(name string, list []string) (err error) {
	lq.page.After, err = ReadCursor(name, view.First(list))
	return err
}

// ReadCursor reads the cursor of a page; an empty one is of the first.
func ReadCursor(name, text string) (queue.Stamp, error) {
	t, ok := queue.ParseStamp(text)
	if !ok && text != "" {
		return t, Invalid("invalid %s %q", name, text)
	}
	return t, nil
}

func (lq *listQuery) readOrder(name string, list []string) error {
	lq.page.Newest = strings.EqualFold(view.First(list), "latestFirst")
	if !lq.page.Newest && !strings.EqualFold(view.First(list), "earliestFirst") {
		return Invalid("invalid %s %q: expected earliestFirst or latestFirst", name, view.First(list))
	}
	return nil
}

func (lq *listQuery) readTrim(name string, list []string) (err error) {
	lq.trim, err = ReadTrim(name, view.First(list))
	return err
}

// ReadTrim reads how many bytes of a body are shown; negative for all.
func ReadTrim(name, text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < view.All {
		return 0, Invalid("invalid %s %q: expected a number of bytes, or -1 for all", name, text)
	}
	return int(n), nil
}

func (lq *listQuery) show() view.Redactor { return view.Redactor{Trim: lq.trim} }

// eventSize returns the most bytes of a body that an event shows.
func (lq *listQuery) eventSize(v *queue.EventInfo) int {
	return lq.show().Size(len(v.Content.Body)) + lq.show().Size(v.Response.BodySize())
}
