package messages

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/internal/yield"
)

// published is one message in the answer to a publication.
type published struct {
	MessageID    string `json:"messageId"`
	URL          string `json:"url,omitempty"`
	Deduplicated bool   `json:"deduplicated,omitempty"`
	// Trireme extensions, which only publications that ask for them get.
	Debounced bool   `json:"debounced,omitempty"`
	Attached  bool   `json:"attached,omitempty"`
	BatchID   string `json:"batchId,omitempty"`
}

// publish answers publish and enqueue, and makes a schedule if the call has a cron
// expression.
func (re *request) publish(queueName, destination string, scheduled bool) error {
	n := Publishing{request: re, scheduled: scheduled}
	err := n.read(queueName, destination, true)
	switch {
	case err != nil:
		return err
	case n.run != nil:
		return re.submit(*n.run)
	case n.asksForSchedule():
		return re.putSchedule(n.fields, &n.message)
	}
	receipts, err := propose(re.r.Context(), re.Engine, []queue.Publication{n.message})
	if err != nil {
		return err
	}
	return re.answerPublished(&receipts[0])
}

// enqueue answers enqueue: a publish to the queue that the path names, whose name is judged like that of the header.
func (re *request) enqueue() error {
	name, destination, _ := strings.Cut(re.Rest(), "/")
	name = unescapePath(name)
	if err := new(queue.Config).Set("queue-name", name); err != nil {
		return Invalid("%s", err)
	}
	return re.publish(name, destination, false)
}

// call returns the request as one to publish.
func (re *request) call(queueName, destination string, body []byte) *call {
	return &call{
		destination: destination, query: re.Query, header: re.r.Header, queue: queueName, body: body, callerIP: CallerIP(re.r), byToken: re.byToken,
		defaults: re.callDefaults,
	}
}

// answerPublished answers a request that published one message, or one to each endpoint of a URL group.
func (re *request) answerPublished(n *queue.Receipt) error {
	if n.Refused != nil {
		return n.Refused
	}
	status := http.StatusOK
	if !n.Group && n.Messages[0].Deduplicated {
		status = http.StatusAccepted
	}
	re.answer(status, receipt(n))
	return nil
}

// receipt returns the answer to one publication: an object, a list for a URL group, or what
// refused it.
func receipt(n *queue.Receipt) any {
	if n.Refused != nil {
		return map[string]string{"error": n.Refused.Text}
	}
	all := make([]published, len(n.Messages))
	for i, m := range n.Messages {
		all[i] = published{MessageID: m.ID.String(), URL: m.URL, Deduplicated: m.Deduplicated, Debounced: m.Debounced, Attached: m.Attached}
		if !m.Batch.IsZero() {
			all[i].BatchID = m.Batch.String()
		}
	}
	if n.Group {
		return all
	}
	all[0].URL = ""
	return all[0]
}

// The bounds of a batch. Each part of at most batchPart bytes is a request of its own to the log; itemBytes is about
// what an item takes in addition to its texts.
const (
	// MaxItems is the most items of a batch.
	MaxItems  = 100_000
	itemBytes = 512
	batchPart = 4 << 20
)

// parseTurn is the number of items of a batch that are read before other goroutines run, which takes some tenths of a millisecond.
const parseTurn = 32

// batch answers /v2/batch: it looks at every item before it publishes the first.
func (re *request) batch() error {
	body, err := re.json(re.MaxBatch, jsonbody.Bounds{Items: MaxItems, Raw: "body"})
	if err != nil {
		return err
	}
	items, usual := readItems(body)
	if !usual {
		items = nil
		if err := json.Unmarshal(body, &items); err != nil {
			return BatchFault[item](body, err)
		}
	}
	if err := jsonbody.Hold(re.r, itemBytes*int64(len(items))); err != nil {
		return err
	}
	all := make([]parsed, len(items))
	for i := range items {
		if i%parseTurn == parseTurn-1 {
			yield.Processor()
		}
		if all[i], err = re.parse(&items[i]); err != nil {
			return ItemError(i, err)
		}
	}
	answers := make([]any, 0, len(all))
	for len(all) > 0 {
		n := partOf(all)
		part, err := re.send(all[:n])
		if err != nil {
			return after(len(answers), err)
		}
		answers = append(answers, part...)
		all = all[n:]
	}
	re.answer(http.StatusOK, answers)
	return nil
}

// parsed is an item of a batch: a message, or, of a workflow run, run.
type parsed struct {
	queue.Publication
	run *RunItem
}

// partOf returns the number of items that go into the next request: only messages, or only items of runs.
func partOf(all []parsed) (n int) {
	for size := 0; n < len(all) && (n == 0 || size < batchPart) && (all[n].run == nil) == (all[0].run == nil); n++ {
		size += itemBytes + len(all[n].Body)
	}
	return n
}

// send proposes items of one sort and returns their answers.
func (re *request) send(all []parsed) (answers []any, err error) {
	if all[0].run != nil {
		items := make([]RunItem, len(all))
		for i := range all {
			items[i] = *all[i].run
		}
		return re.runs.Submit(re.r, items)
	}
	items := make([]queue.Publication, len(all))
	for i := range all {
		items[i] = all[i].Publication
	}
	receipts, err := propose(re.r.Context(), re.Engine, items)
	for i := range receipts {
		answers = append(answers, receipt(&receipts[i]))
	}
	return answers, err
}

func (re *request) parse(m *item) (parsed, error) {
	c := &call{destination: m.Destination, header: make(http.Header, len(m.Headers)), callerIP: CallerIP(re.r), defaults: re.callDefaults}
	for name, values := range m.Headers {
		if name = canonical(name); c.header[name] == nil && len(values) > 0 {
			c.header[name] = values
			continue
		}
		c.header[name] = append(c.header[name], values...)
	}
	re.Parser.InheritTrace(c.header, re.r.Header)
	if m.Body != nil {
		c.body = []byte(*m.Body)
	}
	if m.Queue != nil {
		c.queue = *m.Queue
	}
	if int64(len(c.body)) > re.MaxBody {
		return parsed{}, re.tooLarge(re.MaxBody)
	}
	if n, ok, err := re.runItem(c); ok {
		return parsed{Publication: queue.Publication{Body: n.Body}, run: &n}, err
	}
	p, f, err := re.Parser.publication(c)
	if err == nil {
		err = re.commits(f, &p.Options)
	}
	return parsed{Publication: p}, err
}
