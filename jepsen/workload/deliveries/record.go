package deliveries

import (
	"context"
	"net/url"
	"strings"
)

// Event is one event of a message, as the cluster tells it.
type Event struct {
	// Time is in unix milliseconds of cluster time.
	Time       int64  `json:"time"`
	MessageID  string `json:"messageId"`
	State      string `json:"state"`
	Error      string `json:"error"`
	Status     int    `json:"responseStatus"`
	URL        string `json:"url"`
	ScheduleID string `json:"scheduleId"`
}

// Lost reports whether the event ends a claim of unknown outcome: it was open when
// its leader was lost.
func (e *Event) Lost() bool {
	return e.State == "ERROR" && strings.Contains(e.Error, "outcome was lost")
}

// Events returns the events of a label, the oldest first. states selects some.
func (p *Publisher) Events(ctx context.Context, label string, states ...string) (all []Event, err error) {
	query := url.Values{"label": {label}, "order": {"earliestFirst"}, "count": {"1000"}}
	if len(states) > 0 {
		query.Set("state", strings.Join(states, ","))
	}
	for {
		var page struct {
			Events []Event `json:"events"`
			Cursor string  `json:"cursor"`
		}
		if err := p.Read(ctx, "/v2/events?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		all = append(all, page.Events...)
		if page.Cursor == "" {
			return all, nil
		}
		query.Set("cursor", page.Cursor)
	}
}

// Dead are the ids of the messages of a label in the dead letter queue.
func (p *Publisher) Dead(ctx context.Context, label string) (ids []string, err error) {
	query := url.Values{"label": {label}, "count": {"100"}}
	for {
		var page struct {
			Messages []struct {
				MessageID string `json:"messageId"`
			} `json:"messages"`
			Cursor string `json:"cursor"`
		}
		if err := p.Read(ctx, "/v2/dlq?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		for _, m := range page.Messages {
			ids = append(ids, m.MessageID)
		}
		if page.Cursor == "" {
			return ids, nil
		}
		query.Set("cursor", page.Cursor)
	}
}
