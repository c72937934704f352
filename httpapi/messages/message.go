package messages

import (
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// origin says where a message comes from and goes to.
type origin struct {
	TopicName    string `json:"topicName,omitempty"`
	EndpointName string `json:"endpointName,omitempty"`
	ScheduleID   string `json:"scheduleId,omitempty"`
	API          string `json:"api,omitempty"`
}

func originOf(c *queue.Content) origin { return origin{c.Group, c.Endpoint, c.Schedule, c.API} }

// message is a message as clients read it. Empty members are left out, except those that clients read without checking
// that they are there.
type message struct {
	MessageID string `json:"messageId"`
	URL       string `json:"url"`
	view.Options
	view.CallbackHeaders
	origin
	Body       string `json:"body,omitempty"`
	BodyBase64 string `json:"bodyBase64,omitempty"`
	MaxRetries int    `json:"maxRetries"`
	NotBefore  int64  `json:"notBefore"`
	CreatedAt  int64  `json:"createdAt"`
	// BatchID is the message that delivers this one with others.
	BatchID string `json:"batchId,omitempty"`

	// Explain is a Trireme extension: it says why the message is in its state, if that was asked for.
	Explain *explanation `json:"explain,omitempty"`
}

// render shows a message's content, with what is redacted hidden.
func render(id queue.ID, c *queue.Content, trim int) *message {
	m := &message{
		MessageID: id.String(), URL: c.URL, MaxRetries: c.Retries, NotBefore: c.FirstAt, CreatedAt: c.Created,
		origin: originOf(c),
	}
	m.Options, m.CallbackHeaders = view.NewOptions(&c.Options, c.CallerIP)
	m.Body, m.BodyBase64 = view.Redactor{Hide: c.Redact, Trim: trim}.Body(c.Body)
	return m
}

// runNow delivers at once a message that waits for the time of its next attempt.
func (re *request) runNow(text string) error {
	id, ok := queue.ParseID(text)
	if !ok {
		return &Error{http.StatusNotFound, "message " + text + " not found or not waiting"}
	}
	return perform(re, fsm.RunNow, queue.RunNow{ID: id})
}

func noMessage(id string) *Error { return NotFound("message", id) }

func (re *request) getMessage(text string) error {
	id, ok := queue.ParseID(text)
	if !ok {
		return noMessage(text)
	}
	explain, err := re.explainer(text)
	if err != nil {
		return err
	}
	return answerOne(re, noMessage(text), func(v *fsm.View) *message {
		all := v.Messages()
		info, ok := all.Message(id, v.Now())
		find := func() (queue.Explanation, bool) { return all.Explain(id, v.Now()) }
		if !ok && !all.Live(id) && v.OnFork() { // it may be in a volume
			var x queue.Explanation
			info, x, ok = all.Past(id, v.Now())
			find = func() (queue.Explanation, bool) { return x, ok }
		}
		if !ok {
			return nil
		}
		m := render(id, info.Content, view.All)
		if info.ID != id {
			m.BatchID = info.ID.String()
		}
		m.Explain = explain(v, find)
		return m
	})
}

// readKeys answers the signing keys.
func (re *request) readKeys() error {
	var k queue.Keys
	_, err := re.Engine.Read(re.r.Context(), fsm.Reading{}, func(v *fsm.View) { k = v.Messages().Keys() })
	return re.answerKeys(k, err)
}

func (re *request) rotateKeys() error {
	return re.answerKeys(fsm.Do(re.r.Context(), re.Engine, fsm.RotateKeys, queue.Rotation{}))
}

func (re *request) answerKeys(k queue.Keys, err error) error {
	if err == nil {
		re.answer(http.StatusOK, map[string]string{"current": k.Current, "next": k.Next})
	}
	return err
}
