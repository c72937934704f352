package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A run that was triggered with the header Svc-Inline goes through its steps by one delivery: each result is recorded before the next step
// begins, or with Context.Ahead soon after, and the last ones together with the end of the run.

// linger is how long a result that need not be recorded at once waits for others.
const linger = time.Millisecond

// inline is the state of a delivery that records several steps.
type inline struct {
	attempt string
	created int64
	// posting lets one request go at a time. last is the step that the delivery has seen or recorded last.
	posting sync.Mutex
	last    int

	mu    sync.Mutex
	waits []outcome   // results that are not sent yet
	open  int         // how many are not recorded yet: those that wait, and those on their way
	timer *time.Timer // sends what waits; nil if nothing does
	// failed is what became of the first request that did not go through: nothing is recorded after it.
	failed error
}

// outcome is the result of a step, with its JSON as it is submitted.
type outcome struct {
	id   int
	out  string
	body json.RawMessage
}

// errOtherAttempt says that another attempt has recorded a step before this one. What this one has seen counts for nothing.
var errOtherAttempt = errors.New("endpoint: another attempt has recorded the step")

// errMovedOn says that a step was recorded, and that another delivery continues the run.
var errMovedOn = errors.New("endpoint: another delivery continues the run")

// readInline returns what a delivery asks for; last is the step at the end of its list.
func readInline(r *http.Request, last int) *inline {
	attempt := r.Header.Get(header + "Attempt")
	created, err := strconv.ParseInt(r.Header.Get(header+"CreatedAt"), 10, 64)
	if attempt == "" || err != nil {
		return nil
	}
	return &inline{attempt: attempt, created: created, last: last}
}

// isInline reports whether a step can be followed by another one in this delivery.
func (c *Context) isInline(l *Lazy) bool { return c.inline != nil && l.run != nil }

// doInline does a step and keeps its result, to be recorded before the next, or at most Ahead steps later.
func (c *Context) doInline(l Lazy) string {
	if c.inline.full(c.Ahead) {
		c.record()
	}
	out, err := json.Marshal(l.run())
	if err != nil {
		panic(err)
	}
	l.Out = text(string(out))
	body, err := json.Marshal(l.step)
	if err != nil {
		panic(err)
	}
	c.inline.keep(outcome{l.ID, string(out), body}, c.Ahead > 0, func() { c.recordNow(nil) })
	return string(out)
}

// full reports whether the function is to wait until all its results are recorded, or to be told why they can't be.
func (in *inline) full(ahead int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.open > ahead || in.failed != nil
}

// keep keeps a result until it is recorded, which soon begins to do by itself.
func (in *inline) keep(o outcome, soon bool, record func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waits = append(in.waits, o)
	in.open++
	if soon && in.timer == nil {
		in.timer = time.AfterFunc(linger, record)
	}
}

// take returns the results that wait; none once a request has failed.
func (in *inline) take() (all []outcome, failed error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.timer != nil {
		in.timer.Stop()
		in.timer = nil
	}
	all, in.waits = in.waits, nil
	return all, in.failed
}

// sent takes down what became of a request with n results.
func (in *inline) sent(n int, failed error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.open -= n
	in.failed = failed
}

// record records the results that wait. It abandons the function if another delivery continues the run.
func (c *Context) record() {
	if c.inline == nil {
		return
	}
	if err := c.recordNow(nil); err != nil {
		panic(abandoned{err})
	}
}

// ending is the end of a run.
type ending struct {
	Result *string `json:"result,omitempty"`
}

// What one request has at most: steps, of which a node takes no more, and bytes of them if they are several.
const (
	mostSteps = 100
	mostBytes = 256 << 10
)

// fitting is how many of some results go into one request.
func fitting(list []outcome) (n int) {
	for bytes := 0; n < min(len(list), mostSteps); n++ {
		if bytes += len(list[n].body); n > 0 && bytes > mostBytes {
			break
		}
	}
	return n
}

// recordNow records the results that wait, and then the end of the run unless that is nil, and returns when a node has acknowledged that and
// everything before.
func (c *Context) recordNow(end *ending) error {
	c.inline.posting.Lock()
	defer c.inline.posting.Unlock()
	list, err := c.inline.take()
	for err == nil && (len(list) > 0 || end != nil) {
		n, last := fitting(list), end
		if n < len(list) {
			last = nil
		}
		err = c.postSteps(list[:n], last)
		c.inline.sent(n, err)
		if list = list[n:]; last != nil {
			break
		}
	}
	return err
}

func (c *Context) postSteps(list []outcome, end *ending) error {
	in := struct {
		Attempt string            `json:"attempt"`
		Created int64             `json:"workflowCreatedAt"`
		Steps   []json.RawMessage `json:"steps,omitempty"`
		Last    int               `json:"lastStepId"`
		End     *ending           `json:"end,omitempty"`
	}{Attempt: c.inline.attempt, Created: c.inline.created, Last: c.inline.last, End: end}
	for _, o := range list {
		in.Steps = append(in.Steps, o.body)
		c.inline.last = o.id
	}
	answer, err := c.post(c.Request.Context(), "/v2/workflows/runs/"+c.RunID+"/steps", map[string]string{"content-type": "application/json"}, in)
	if err != nil {
		return err
	}
	var out struct{ Inline, Deduplicated, Ended bool }
	switch err := json.Unmarshal(answer, &out); {
	case err != nil:
		return fmt.Errorf("the answer to a step: %w", err)
	case out.Deduplicated && !out.Inline, end != nil && !out.Ended:
		return errOtherAttempt
	case !out.Inline:
		return errMovedOn
	}
	for _, o := range list {
		if c.Seen != nil {
			c.Seen(c.RunID, o.id, o.out)
		}
	}
	if end != nil && c.Ended != nil {
		c.Ended(c.RunID)
	}
	return nil
}
