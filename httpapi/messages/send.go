package messages

import (
	"encoding/json"
	"fmt"
	"net/http"

	"trireme/fsm"
	"trireme/fsm/queue"
)

// published is one message in the answer to a publication.
type published struct {
	MessageID    string `json:"messageId"`
	URL          string `json:"url,omitempty"`
	Deduplicated bool   `json:"deduplicated,omitempty"`
}

// publish answers publish and enqueue, and makes a schedule if the call has a cron
// expression.
func (q *request) publish(queueName, destination string, scheduled bool) error {
	body, err := q.body(q.MaxBody)
	if err != nil {
		return err
	}
	p, f, err := q.Parser.publication(&call{
		destination: destination, query: q.query, header: q.r.Header, queue: queueName, body: body, callerIP: q.callerIP(), byToken: q.byToken,
		defaults: q.callDefaults,
	})
	if err != nil {
		return err
	}
	if _, again := f["cron"]; again || scheduled {
		return q.putSchedule(f, &p)
	}
	out, err := fsm.Do(q.r.Context(), q.Engine, fsm.Publish, queue.Publications{Items: []queue.Publication{p}})
	if err != nil {
		return err
	}
	n := &out.Items[0]
	if n.Refused != nil {
		return n.Refused
	}
	status := http.StatusOK
	if !n.Group && n.Messages[0].Deduplicated {
		status = http.StatusAccepted
	}
	q.answer(status, receipt(n))
	return nil
}

// receipt is the answer to one publication: an object, a list for a URL group, or what
// refused it.
func receipt(n *queue.Receipt) any {
	if n.Refused != nil {
		return map[string]string{"error": n.Refused.Text}
	}
	all := make([]published, len(n.Messages))
	for i, m := range n.Messages {
		all[i] = published{m.ID.String(), m.URL, m.Deduplicated}
	}
	if n.Group {
		return all
	}
	all[0].URL = ""
	return all[0]
}

// item is one message of a batch.
type item struct {
	Destination string               `json:"destination"`
	Headers     map[string]oneOrMore `json:"headers"`
	Body        *string              `json:"body"`
	Queue       *string              `json:"queue"`
}

// oneOrMore is a text or a list of texts.
type oneOrMore []string

// UnmarshalJSON reads either form.
func (o *oneOrMore) UnmarshalJSON(b []byte) error {
	var one string
	if err := json.Unmarshal(b, &one); err == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(o))
}

// The bounds of a batch. Each part of at most batchPart bytes is an entry's request of
// its own.
const (
	maxItems  = 100_000
	batchPart = 4 << 20
)

// batch answers /v2/batch: it looks at every item before it publishes the first.
func (q *request) batch() error {
	body, err := q.body(q.MaxBatch)
	if err != nil {
		return err
	}
	var items []item
	if err := json.Unmarshal(body, &items); err != nil {
		return invalid("invalid batch: a JSON array of messages is wanted: %s", err)
	}
	if len(items) > maxItems {
		return invalid("invalid batch: at most %d messages", maxItems)
	}
	all := make([]queue.Publication, len(items))
	for i := range items {
		if all[i], err = q.publicationOf(&items[i]); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	answers := make([]any, 0, len(all))
	for len(all) > 0 {
		n := partOf(all)
		out, err := fsm.Do(q.r.Context(), q.Engine, fsm.Publish, queue.Publications{Items: all[:n]})
		if err != nil {
			return err
		}
		for i := range out.Items {
			answers = append(answers, receipt(&out.Items[i]))
		}
		all = all[n:]
	}
	q.answer(http.StatusOK, answers)
	return nil
}

// partOf is how many publications go into the next request.
func partOf(all []queue.Publication) (n int) {
	for size := 0; n < len(all) && (n == 0 || size < batchPart); n++ {
		size += 512 + len(all[n].Body)
	}
	return n
}

func (q *request) publicationOf(m *item) (queue.Publication, error) {
	c := &call{destination: m.Destination, header: http.Header{}, callerIP: q.callerIP(), defaults: q.callDefaults}
	for name, values := range m.Headers {
		c.header[canonical(name)] = append(c.header[canonical(name)], values...)
	}
	if m.Body != nil {
		c.body = []byte(*m.Body)
	}
	if m.Queue != nil {
		c.queue = *m.Queue
	}
	if int64(len(c.body)) > q.MaxBody {
		return queue.Publication{}, &Error{http.StatusRequestEntityTooLarge, "the body is larger than this server accepts"}
	}
	p, _, err := q.Parser.publication(c)
	return p, err
}
