package messages

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// maxEvents is the most events that one answer lists, and their number if the request gives no count. Grouped, it lists
// defaultGroups messages without a count.
const (
	maxEvents     = 1000
	defaultGroups = 10
)

// event is an event as clients read it: what happened, and the whole configuration of
// its message, which clients look for on every event.
type event struct {
	Time      eventTime `json:"time"`
	MessageID string    `json:"messageId"`
	State     string    `json:"state"`
	URL       string    `json:"url"`
	view.Options
	origin
	Body                   string              `json:"body,omitempty"` // always in base64
	NextDeliveryTime       int64               `json:"nextDeliveryTime,omitempty"`
	Error                  string              `json:"error,omitempty"`
	ResponseStatus         int                 `json:"responseStatus,omitempty"`
	ResponseBody           string              `json:"responseBody,omitempty"` // always in base64
	ResponseHeader         map[string][]string `json:"responseHeader,omitempty"`
	ResponseHeaders        map[string][]string `json:"responseHeaders,omitempty"`
	Timeout                int64               `json:"timeout,omitempty"`
	CallbackHeaders        map[string][]string `json:"callbackHeaders,omitempty"`
	FailureCallbackHeaders map[string][]string `json:"failureCallbackHeaders,omitempty"`
	MaxRetries             int                 `json:"maxRetries"`
	RetryDelayExpr         string              `json:"retryDelayExpr,omitempty"`
	// SourceMessageID is the message of which a callback tells.
	SourceMessageID string `json:"sourceMessageId,omitempty"`
	// BatchID is the message that delivers this one with others.
	BatchID string `json:"batchId,omitempty"`
}

// eventTime is a time in unix milliseconds: a number, as existing clients decode it, or
// a text, as the specification has it.
type eventTime struct {
	at   int64
	text bool
}

// MarshalJSON writes either form.
func (t eventTime) MarshalJSON() ([]byte, error) {
	if t.text {
		return json.Marshal(strconv.FormatInt(t.at, 10))
	}
	return json.Marshal(t.at)
}

// cancelledWord is the specification's spelling of the state that clients know as
// CANCELED.
const cancelledWord = "CANCELLED"

// stateText returns the name of a state; literal is the specification's spelling.
func stateText(st queue.State, literal bool) string {
	if literal && st == queue.Canceled {
		return cancelledWord
	}
	return st.String()
}

// renderEvent returns an event with at most trim bytes of each body; literal is the specification's form of time and state.
func renderEvent(v *queue.EventInfo, literal bool, trim int) *event {
	c := v.Content
	m := render(v.ID, c, trim)
	n := &event{
		Time: eventTime{v.At, literal}, MessageID: m.MessageID, State: stateText(v.State, literal), URL: m.URL, Options: m.Options, origin: m.origin,
		NextDeliveryTime: v.Next(), Error: v.Error, Timeout: c.Timeout, MaxRetries: m.MaxRetries, RetryDelayExpr: m.RetryDelayExpression,
		CallbackHeaders: m.CallbackHeader, FailureCallbackHeaders: m.FailureCallbackHeader,
	}
	if n.Body = m.BodyBase64; m.Body != "" {
		n.Body = base64.StdEncoding.EncodeToString([]byte(m.Body))
	}
	if !c.Source.ID.IsZero() {
		n.SourceMessageID = c.Source.ID.String()
	}
	if !v.Batch.IsZero() {
		n.BatchID = v.Batch.String()
	}
	if p := v.Response; p != nil {
		n.ResponseStatus, n.ResponseBody = p.Status, base64.StdEncoding.EncodeToString(view.Redactor{Trim: trim}.Cut(p.Body))
		n.ResponseHeader = view.Header(p.Header)
		n.ResponseHeaders = n.ResponseHeader
	}
	return n
}

// parseStates reads the name of a state in any case of letters and in both spellings;
// IN_PROGRESS stands for three.
func parseStates(text string) ([]queue.State, error) {
	switch text = strings.ToUpper(text); text {
	case "IN_PROGRESS":
		return []queue.State{queue.Active, queue.Retry, queue.Failing}, nil
	case cancelledWord:
		return []queue.State{queue.Canceled}, nil
	}
	for st := queue.Created; st <= queue.Canceled; st++ {
		if st.String() == text {
			return []queue.State{st}, nil
		}
	}
	return nil, Invalid("invalid state %q: use %s", text, stateNames())
}

// stateNames are the states that a filter takes.
func stateNames() string {
	all := []string{"IN_PROGRESS"}
	for st := queue.Created; st <= queue.Canceled; st++ {
		all = append(all, st.String())
	}
	return strings.Join(all, ", ")
}

// readEvents reads a selection of events.
func (re *request) readEvents() (c listQuery, err error) {
	values, err := re.parameters(re.Query)
	if err != nil {
		return c, err
	}
	c.page, c.most = queue.Page{Limit: maxEvents, Newest: true}, maxEvents
	if view.First(values["groupBy"]) != "" {
		c.page.Limit = defaultGroups
	}
	if err := c.read(values, inEvents); err != nil {
		return c, err
	}
	if c.groupBy == byMessage && !values.Has("trimBody") {
		c.trim = standingTrim
	}
	c.page.Last = c.groupBy == byMessageID || c.groupBy == byMessage
	if c.span != 0 && c.groupBy != byTime {
		return c, Invalid("span is for groupBy=time alone")
	}
	return c, nil
}

func (lq *listQuery) readStates(_ string, list []string) error {
	for _, text := range Split(list) {
		states, err := parseStates(text)
		if err != nil {
			return err
		}
		lq.filter.States = append(lq.filter.States, states...)
	}
	return nil
}

// eventGroup is a message with its events, the newest first.
type eventGroup struct {
	MessageID string   `json:"messageId"`
	Events    []*event `json:"events"`
}

// events answers /v2/events, and /v2/logs, whose list has two names.
func (re *request) events(logs bool) error {
	query, err := re.readEvents()
	if err != nil {
		return err
	}
	switch query.groupBy {
	case byTime:
		return re.listTally(&query)
	case byMessage:
		return re.listStanding(&query)
	}
	all, groups, cursor, err := re.pageOfEvents(&query)
	if err != nil {
		return err
	}
	answer := map[string]any{"events": all}
	switch {
	case query.groupBy == byMessageID:
		answer = map[string]any{"groups": groups, "messages": groups}
	case logs:
		answer["logs"] = all
		if query.named {
			answer["messages"] = eventsByMessage(all)
		}
	}
	if cursor != "" {
		answer["cursor"] = cursor
	}
	re.answer(http.StatusOK, answer)
	return nil
}

// pageOfEvents reads a page, as events or in groups.
func (re *request) pageOfEvents(query *listQuery) (all []*event, groups []eventGroup, cursor string, err error) {
	all, groups = []*event{}, []eventGroup{}
	if query.none {
		return all, groups, "", nil
	}
	cursor, err = ReadPage(re.r.Context(), re.Engine, query.page, func(v *fsm.View, page queue.Page) ([]queue.EventInfo, queue.Stamp, bool) {
		return v.Messages().Events(&query.filter, page)
	}, func(v *fsm.View, e *queue.EventInfo) (queue.Stamp, int) {
		if query.groupBy == byMessageID {
			group, size := re.eventsOf(v, e.ID, query)
			groups = append(groups, group)
			return e.Stamp, size
		}
		all = append(all, renderEvent(e, re.Parser.SpecLiteral, query.trim))
		return e.Stamp, query.eventSize(e)
	})
	return all, groups, cursor, err
}

// eventsOf returns the events of one message, and their size in bytes.
func (re *request) eventsOf(v *fsm.View, id queue.ID, query *listQuery) (group eventGroup, size int) {
	group.MessageID = id.String()
	list, _, _ := v.Messages().Events(&queue.Filter{IDs: []queue.ID{id}}, queue.Page{Limit: maxEvents, Newest: true})
	for i := range list {
		size += query.eventSize(&list[i])
		group.Events = append(group.Events, renderEvent(&list[i], re.Parser.SpecLiteral, query.trim))
	}
	return group, size
}

// eventsByMessage groups events by their messages, which come in the order of their first event.
func eventsByMessage(all []*event) []eventGroup {
	groups, at := []eventGroup{}, map[string]int{}
	for _, e := range all {
		i, ok := at[e.MessageID]
		if !ok {
			i = len(groups)
			at[e.MessageID], groups = i, append(groups, eventGroup{MessageID: e.MessageID})
		}
		groups[i].Events = append(groups[i].Events, e)
	}
	return groups
}
