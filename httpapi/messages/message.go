package messages

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"trireme/fsm"
	"trireme/fsm/queue"
)

// message is a message as clients read it. Members that say nothing are left out, but
// for those that clients read without asking whether they are there.
type message struct {
	MessageID             string              `json:"messageId"`
	URL                   string              `json:"url"`
	Method                string              `json:"method"`
	Header                map[string][]string `json:"header,omitempty"`
	Body                  string              `json:"body,omitempty"`
	BodyBase64            string              `json:"bodyBase64,omitempty"`
	MaxRetries            int                 `json:"maxRetries"`
	NotBefore             int64               `json:"notBefore"`
	CreatedAt             int64               `json:"createdAt"`
	TopicName             string              `json:"topicName,omitempty"`
	EndpointName          string              `json:"endpointName,omitempty"`
	QueueName             string              `json:"queueName,omitempty"`
	ScheduleID            string              `json:"scheduleId,omitempty"`
	API                   string              `json:"api,omitempty"`
	Callback              string              `json:"callback,omitempty"`
	CallbackHeader        map[string][]string `json:"callbackHeader,omitempty"`
	FailureCallback       string              `json:"failureCallback,omitempty"`
	FailureCallbackHeader map[string][]string `json:"failureCallbackHeader,omitempty"`
	CallerIP              string              `json:"callerIP,omitempty"`
	RetryDelayExpression  string              `json:"retryDelayExpression,omitempty"`
	Label                 string              `json:"label,omitempty"`
	Labels                []string            `json:"labels,omitempty"`
	FlowControlKey        string              `json:"flowControlKey,omitempty"`
	Parallelism           int                 `json:"parallelism,omitempty"`
	Rate                  int                 `json:"rate,omitempty"`
	Period                int64               `json:"period,omitempty"`

	// Explain is ours: why the message is where it is, if that was asked for.
	Explain *explanation `json:"explain,omitempty"`
}

// render gives a message's content, with what is redacted hidden.
func render(id queue.ID, c *queue.Content) *message {
	m := &message{
		MessageID: id.String(), URL: c.URL, Method: c.Method, MaxRetries: c.Retries, NotBefore: c.FirstAt, CreatedAt: c.Created,
		TopicName: c.Group, EndpointName: c.Endpoint, QueueName: c.Queue, ScheduleID: c.Schedule, API: c.API,
		CallerIP: c.CallerIP, RetryDelayExpression: c.RetryDelay, Labels: c.Labels,
	}
	if m.Method == "" {
		m.Method = http.MethodPost
	}
	if len(c.Labels) > 0 {
		m.Label = c.Labels[0]
	}
	m.Header = headerMap(c.Header, c.Redact)
	m.Body, m.BodyBase64 = bodyText(c.Body, c.Redact)
	if c.Callback != nil {
		m.Callback, m.CallbackHeader = c.Callback.URL, headerMap(c.Callback.Options.Header, c.Redact)
	}
	if c.Failure != nil {
		m.FailureCallback, m.FailureCallbackHeader = c.Failure.URL, headerMap(c.Failure.Options.Header, c.Redact)
	}
	if f := c.Flow; f != nil {
		m.FlowControlKey, m.Parallelism, m.Rate, m.Period = f.Key, f.Parallelism, f.Rate, max(f.Period/1000, 1)
	}
	return m
}

// headerMap is a header as clients read it; nil if there is none.
func headerMap(header []queue.Field, hide *queue.Redaction) map[string][]string {
	if len(header) == 0 {
		return nil
	}
	m := make(map[string][]string, len(header))
	for _, f := range header {
		value, name := f.Value, canonical(f.Name)
		if hide != nil && (hide.Header || slices.Contains(hide.Names, name)) {
			value = redacted([]byte(value))
		}
		m[name] = append(m[name], value)
	}
	return m
}

// bodyText is a body as text, or in base64 if it is none.
func bodyText(body []byte, hide *queue.Redaction) (text, coded string) {
	switch {
	case len(body) == 0:
		return "", ""
	case hide != nil && hide.Body:
		return redacted(body), ""
	case utf8.Valid(body):
		return string(body), ""
	}
	return "", base64.StdEncoding.EncodeToString(body)
}

// redacted stands for a value that is hidden; equal values look equal.
func redacted(value []byte) string {
	sum := sha256.Sum256(value)
	return "REDACTED:" + hex.EncodeToString(sum[:])
}

// messages answers /v2/messages and /v2/messages/{id}.
func (q *request) messages(id string) error {
	switch {
	case q.r.Method == http.MethodGet && id != "":
		return q.getMessage(id)
	case q.r.Method == http.MethodDelete && id != "":
		return q.cancelOne(id)
	case q.r.Method == http.MethodDelete:
		return q.cancelMany()
	}
	return errMethod
}

func noMessage(id string) *Error { return &Error{http.StatusNotFound, "message " + id + " not found"} }

func (q *request) getMessage(text string) error {
	id, ok := queue.ParseID(text)
	if !ok {
		return noMessage(text)
	}
	explain, err := q.wantsExplanation()
	if err != nil {
		return err
	}
	var m *message
	_, err = q.Engine.Read(q.r.Context(), fsm.Reading{}, func(v *fsm.View) {
		n, ok := v.Messages().Message(id, v.Now())
		if !ok {
			return
		}
		m = render(id, n.Content)
		if x, ok := v.Messages().Explain(id, v.Now()); ok && explain {
			m.Explain = q.renderExplanation(&x)
		}
	})
	switch {
	case err != nil:
		return err
	case m == nil:
		return noMessage(text)
	}
	q.answer(http.StatusOK, m)
	return nil
}

// keys answers /v2/keys and /v2/keys/rotate.
func (q *request) keys(rest string) (err error) {
	var k queue.Keys
	switch rest = strings.ToLower(rest); {
	case rest == "" && q.r.Method == http.MethodGet:
		_, err = q.Engine.Read(q.r.Context(), fsm.Reading{}, func(v *fsm.View) { k = v.Messages().Keys() })
	case rest == "rotate" && q.r.Method == http.MethodPost:
		k, err = fsm.Do(q.r.Context(), q.Engine, fsm.RotateKeys, queue.Rotation{})
	case rest == "" || rest == "rotate":
		return errMethod
	default:
		return errNoPath
	}
	if err != nil {
		return err
	}
	q.answer(http.StatusOK, map[string]string{"current": k.Current, "next": k.Next})
	return nil
}
