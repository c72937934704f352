package workflow

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// ErrTimeout says that a wait has ended without its event.
var ErrTimeout = errors.New("workflow: the wait has timed out")

// Wait is a step that waits for an event: for a notification of that name, to all runs or to this one. It returns the data of the
// notification, or ErrTimeout. The timeout is in whole seconds; 0 is the server's, 7 days.
func Wait[T any](c *Context, name, event string, timeout time.Duration) (T, error) {
	data, err := c.wait("Wait", name, event, timeout)
	if err != nil {
		var none T
		return none, err
	}
	v, err := decode[T](data)
	if err != nil {
		return v, fmt.Errorf("workflow: the data of event %q is no %T: %w", event, v, err)
	}
	return v, nil
}

// wait does a step of one of the kinds that wait for an event.
func (c *Context) wait(kind, name, event string, timeout time.Duration) ([]byte, error) {
	limit := "7d"
	if timeout > 0 {
		limit = seconds(timeout)
	}
	s := c.do(&pending{
		step:   step{Name: name, Type: kind, EventID: event, Timeout: limit},
		submit: func(d *delivery, s step) error { return d.submitWait(s, event, limit) },
	})
	if s.WaitTimeout {
		return nil, ErrTimeout
	}
	if s.Out == nil {
		return nil, nil
	}
	data, err := base64.StdEncoding.DecodeString(*s.Out)
	if err != nil {
		c.fail(fmt.Errorf("workflow: the data of event %q: %w", event, err))
	}
	return data, nil
}

func (d *delivery) submitWait(s step, event, limit string) error {
	h := d.headers()
	h["upstash-workflow-calltype"] = "step"
	return d.submit(d.ctx, "/v2/wait/"+url.PathEscape(event), h, map[string]any{
		"url": d.url, "timeout": limit, "timeoutUrl": d.url, "timeoutHeaders": lists(h),
		"step": map[string]any{"stepId": s.ID, "stepType": s.Type, "stepName": s.Name, "concurrent": s.Concurrent},
	}, nil)
}

// Waiter is a run that waits for an event.
type Waiter struct {
	URL      string      `json:"url"`
	Deadline int64       `json:"deadline"` // in unix seconds
	Header   http.Header `json:"headers"`
}

// Notified is a run that a notification has reached. Kept says that it does not wait yet and keeps the event.
type Notified struct {
	RunID     string `json:"workflowRunId"`
	CreatedAt int64  `json:"workflowCreatedAt"` // in unix milliseconds
	MessageID string `json:"messageId"`
	Kept      bool   `json:"kept,omitempty"`
	Waiter    Waiter `json:"waiter"`
}

// Notify is a step that notifies all runs that wait for an event. It returns those that it has reached. Data is JSON, or bytes as they are.
// An attempt that is repeated notifies again.
func Notify(c *Context, name, event string, data any) []Notified {
	type notification struct {
		EventID  string     `json:"eventId"`
		Data     any        `json:"eventData,omitempty"`
		Notified []Notified `json:"notifyResponse"`
	}
	out := result[notification](c, &pending{step: step{Name: name, Type: "Notify"}, run: func(ctx context.Context) (*string, error) {
		n := notification{EventID: event, Data: data}
		body, err := encode(data)
		if err != nil {
			return nil, err
		}
		if n.Notified, err = c.d.notify(ctx, event, body); err != nil {
			return nil, err
		}
		return outOf(n)
	}})
	return out.Notified
}

// notify sends a notification, once.
func (c *conn) notify(ctx context.Context, event string, body []byte) (all []Notified, err error) {
	err = c.ask(ctx, http.MethodPost, "/v2/notify/"+url.PathEscape(event), jsonType, body, &all)
	return all, err
}
