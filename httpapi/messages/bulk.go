package messages

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
	"github.com/trireme-dev/trireme/httpapi/view"
)

const (
	// bulkWait bounds the wait of a request for a bulk action that it has not asked to run in the background.
	bulkWait = time.Minute
	// maxBulkPage is the most bulk actions of a page, bulkPage is the default.
	maxBulkPage = 1000
	bulkPage    = 100
)

// Bulk describes the objects of bulk actions: messages or runs.
type Bulk struct {
	// Table returns the table of bulk actions in a view.
	Table func(*fsm.View) *queue.BulkTable
	// Filter shows a coded filter by the names of its parameters.
	Filter func(coded []byte) map[string][]string
	// Ask proposes the operation; for a start it adds what to cancel.
	Ask func(queue.BulkRequest) (queue.BulkAction, error)
	// Count counts what a start would cancel.
	Count func() (int, error)
}

// bulkAction is a bulk action as clients read it.
type bulkAction struct {
	ActionID    string              `json:"actionId"`
	Kind        string              `json:"kind"`
	State       string              `json:"state"`
	Total       int                 `json:"total"`
	Processed   int                 `json:"processed"`
	CreatedAt   int64               `json:"createdAt"`
	CompletedAt int64               `json:"completedAt,omitempty"`
	Filter      map[string][]string `json:"filter"`
}

// The states of a bulk action on the wire.
const (
	bulkInProgress = "IN_PROGRESS"
	bulkFinished   = "FINISHED"
)

func bulkState(b *queue.BulkAction) string {
	if b.Done() {
		return bulkFinished
	}
	return bulkInProgress
}

func (bu *Bulk) render(b *queue.BulkAction) *bulkAction {
	return &bulkAction{b.ID, "cancel", bulkState(b), b.Total, b.Processed, b.Created, b.Completed, bu.Filter(b.Filter)}
}

// bulkCancelled is the answer to a cancellation of many.
type bulkCancelled struct {
	Cancelled int    `json:"cancelled"`
	ActionID  string `json:"actionId,omitempty"`
}

// StartBulk starts the cancellation that k.Ask proposes. It answers when that is done, or, with async, when it is
// accepted. A request waits for Options.BulkWait at most; the action then goes on in the background.
func (a *API) StartBulk(w http.ResponseWriter, r *http.Request, k *Bulk, async bool) error {
	matched, err := k.Count()
	if err != nil {
		return err
	}
	b, err := k.Ask(queue.BulkRequest{Act: queue.BulkStart, Matched: matched})
	if err == nil && matched == 0 && b.Total == 0 && !b.Done() {
		// There is nothing to do, as the reads that counted have seen. Stopping the action saves further steps in the log.
		b, err = k.Ask(queue.BulkRequest{Act: queue.BulkStop, ID: b.ID})
	}
	wait := a.BulkWait
	if wait <= 0 {
		wait = bulkWait
	}
	for until := time.Now().Add(wait); err == nil && !async && !b.Done(); {
		if time.Now().After(until) {
			return &Error{http.StatusTooManyRequests, "the cancellation is not done yet and goes on by itself as bulk action " + b.ID}
		}
		b, err = k.Ask(queue.BulkRequest{Act: queue.BulkStep, ID: b.ID})
	}
	if err != nil {
		return err
	}
	n := bulkCancelled{Cancelled: b.Total}
	if async {
		n.ActionID = b.ID
	}
	a.Answer(w, r, http.StatusAccepted, n)
	return nil
}

// ServeBulk answers the paths of bulk actions: the list, one of them, and how many a filter would cancel. Segment at names which.
func (a *API) ServeBulk(w http.ResponseWriter, r *http.Request, t *Target, at int, k *Bulk) error {
	q := &request{API: a, w: w, r: r, Target: *t}
	id := t.Plain(at)
	switch preview := strings.EqualFold(id, "preview"); {
	case preview && r.Method == http.MethodGet:
		return q.previewBulk(k)
	case preview:
		return ErrMethod
	case id == "":
		return q.listBulk(k)
	case r.Method == http.MethodGet:
		return q.getBulk(k, id)
	}
	return q.stopBulk(k, id)
}

func (re *request) previewBulk(k *Bulk) error {
	total, err := k.Count()
	if err == nil {
		re.answer(http.StatusOK, map[string]int{"total": total})
	}
	return err
}

func (re *request) getBulk(k *Bulk, id string) error {
	return answerOne(re, NotFound("bulk action", id), func(v *fsm.View) *bulkAction {
		if b := k.Table(v).Find(id); b != nil {
			return k.render(b)
		}
		return nil
	})
}

func (re *request) stopBulk(k *Bulk, id string) error {
	b, err := k.Ask(queue.BulkRequest{Act: queue.BulkStop, ID: id})
	if err == nil {
		re.answer(http.StatusOK, k.render(&b))
	}
	return err
}

// listBulk answers a page. The filter of states is applied to the page, which may be short and have a cursor nevertheless.
func (re *request) listBulk(k *Bulk) error {
	values, err := re.named("cursor", "count", "state")
	if err != nil {
		return err
	}
	count, below, state := bulkPage, uint64(0), values.Get("state")
	if text := values.Get("count"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil || n == 0 {
			return Invalid("invalid count %q: expected 1 to %d", text, maxBulkPage)
		}
		count = min(int(n), maxBulkPage)
	}
	if text := values.Get("cursor"); text != "" {
		if below, err = strconv.ParseUint(text, 10, 64); err != nil || below == 0 {
			return Invalid("invalid cursor %q", text)
		}
	}
	if state != "" && state != bulkInProgress && state != bulkFinished {
		return Invalid("invalid state %q: expected %s or %s", state, bulkInProgress, bulkFinished)
	}
	page := struct {
		Actions []*bulkAction `json:"bulkActions"`
		Cursor  string        `json:"cursor,omitempty"`
	}{}
	_, err = re.Engine.Read(re.r.Context(), fsm.Reading{Long: true}, func(v *fsm.View) {
		page.Actions, page.Cursor = []*bulkAction{}, ""
		list, cursor := k.Table(v).List(below, count)
		for _, b := range list {
			if state == "" || bulkState(b) == state {
				page.Actions = append(page.Actions, k.render(b))
			}
		}
		if cursor != 0 {
			page.Cursor = strconv.FormatUint(cursor, 10)
		}
	})
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, page)
	return nil
}

// CountBulk counts by pages, between which writes go on.
func (a *API) CountBulk(ctx context.Context, page func(v *fsm.View, at uint64) (n int, next uint64, more bool)) (total int, err error) {
	for at, more := uint64(0), true; more; {
		var n int
		var next uint64
		if _, err := a.Engine.Read(ctx, fsm.Reading{Long: true}, func(v *fsm.View) { n, next, more = page(v, at) }); err != nil {
			return 0, err
		}
		total, at = total+n, next
	}
	return total, nil
}

// bulkOf returns the bulk actions of messages; a start cancels those that f chooses.
func (re *request) bulkOf(f *queue.Filter) *Bulk {
	return &Bulk{
		Table:  func(v *fsm.View) *queue.BulkTable { return v.Messages().Bulk() },
		Filter: showFilter,
		Ask: func(n queue.BulkRequest) (queue.BulkAction, error) {
			return fsm.Do(re.r.Context(), re.Engine, fsm.BulkCancel, queue.BulkCancellation{BulkRequest: n, Filter: *f})
		},
		Count: func() (int, error) {
			return re.CountBulk(re.r.Context(), func(v *fsm.View, at uint64) (int, uint64, bool) { return v.Messages().CountMatching(f, at) })
		},
	}
}

// bulkActions answers /v2/bulkActions and what is below it.
func (re *request) bulkActions() error {
	f := &queue.Filter{}
	if strings.EqualFold(re.Segment(1), "preview") {
		query, err := readCancelQuery(re.Query, nil)
		if err != nil {
			return err
		}
		if query.none || len(query.filter.IDs) > 0 {
			return Invalid("invalid messageIds: a preview is of filters")
		}
		f = &query.filter
	}
	return re.ServeBulk(re.w, re.r, &re.Target, 1, re.bulkOf(f))
}

// showFilter shows a filter by the names of the parameters.
func showFilter(coded []byte) map[string][]string {
	var f queue.Filter
	wire.NewReader(coded).Get(&f)
	return ShowFilter(map[string][]string{
		"url": f.URLs, "host": f.Hosts, "path": f.Paths, "topicName": f.Groups, "queueName": f.Queues, "scheduleId": f.Schedules,
		"label": f.Labels, "flowControlKey": f.FlowKeys, "callerIp": f.CallerIPs,
	}, map[string]int64{"fromDate": f.From, "toDate": f.To})
}

// ShowFilter returns what is set of a filter as clients read it: the values, and the times in unix milliseconds, by the
// names of their parameters. It changes values.
func ShowFilter(values map[string][]string, times map[string]int64) map[string][]string {
	maps.DeleteFunc(values, func(_ string, list []string) bool { return len(list) == 0 })
	for name, at := range times {
		if at != 0 {
			values[name] = []string{strconv.FormatInt(at, 10)}
		}
	}
	return values
}

// Truth reads a parameter that is true or false, as a text or, in a JSON body, as a boolean.
func Truth(name string, values []string) (bool, error) {
	switch text := strings.ToLower(strings.TrimSpace(view.First(values))); text {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	default:
		return false, Invalid("invalid %s %q: expected true or false", name, text)
	}
}
