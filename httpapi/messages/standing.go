package messages

import (
	"encoding/base64"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// standingTrim is the most bytes of an answer that a list of messages shows, if the request does not say.
const standingTrim = 200

// standing is a message as it is now: what it is, its state, and how its last attempt ended. Times are in unix milliseconds.
type standing struct {
	MessageID string `json:"messageId"`
	State     string `json:"state"`
	URL       string `json:"url"`
	Method    string `json:"method"`
	origin
	QueueName      string   `json:"queueName,omitempty"`
	Labels         []string `json:"labels,omitempty"`
	FlowControlKey string   `json:"flowControlKey,omitempty"`
	CallerIP       string   `json:"callerIP,omitempty"`
	CreatedAt      int64    `json:"createdAt"`
	// Time is that of the last event.
	Time             int64 `json:"time"`
	NextDeliveryTime int64 `json:"nextDeliveryTime,omitempty"`
	Attempts         int   `json:"attempts"`
	MaxRetries       int   `json:"maxRetries"`
	// AttemptMs is how long the last attempt took that has ended; the answer to it is told if it failed.
	AttemptMs      *int64 `json:"attemptMs,omitempty"`
	ResponseStatus int    `json:"responseStatus,omitempty"`
	ResponseBody   string `json:"responseBody,omitempty"` // in base64
	Error          string `json:"error,omitempty"`
}

// listStanding answers a page of messages, those first to which something has happened last.
func (re *request) listStanding(query *listQuery) error {
	all, cursor := []*standing{}, ""
	if !query.none {
		var err error
		cursor, err = ReadPage(re.r.Context(), re.Engine, query.page, func(v *fsm.View, page queue.Page) ([]queue.EventInfo, queue.Stamp, bool) {
			return v.Messages().Events(&query.filter, page)
		}, func(_ *fsm.View, e *queue.EventInfo) (queue.Stamp, int) {
			n := renderStanding(e, re.Parser.SpecLiteral, query.trim)
			all = append(all, n)
			return e.Stamp, len(n.ResponseBody)
		})
		if err != nil {
			return err
		}
	}
	re.answer(http.StatusOK, struct {
		Cursor   string      `json:"cursor,omitempty"`
		Messages []*standing `json:"messages"`
	}{cursor, all})
	return nil
}

// renderStanding returns a message by its last event, with at most trim bytes of the answer.
func renderStanding(e *queue.EventInfo, literal bool, trim int) *standing {
	c, way := e.Content, e.Course
	options, _ := view.NewOptions(&c.Options, c.CallerIP)
	n := &standing{
		MessageID: e.ID.String(), State: stateText(e.State, literal), URL: c.URL, Method: options.Method, origin: originOf(c), QueueName: options.QueueName,
		Labels: options.Labels, FlowControlKey: options.FlowControlKey, CallerIP: options.CallerIP, CreatedAt: c.Created, Time: e.At,
		NextDeliveryTime: e.Next(), Attempts: way.Attempts, MaxRetries: c.Retries, Error: way.Error,
	}
	if way.Began != 0 {
		took := way.Ended - way.Began
		n.AttemptMs = &took
	}
	if p := way.Response; p != nil {
		n.ResponseStatus, n.ResponseBody = p.Status, base64.StdEncoding.EncodeToString(view.Redactor{Trim: trim}.Cut(p.Body))
	}
	return n
}
