package workflow

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A run with RunOptions.Inline goes through its steps by one delivery: each result is recorded before the next step begins, or with
// Context.SetAhead soon after, and the last ones together with the end of the run.

// linger is how long a result that need not be recorded at once waits for others.
const linger = time.Millisecond

// inline is the state of a delivery that records several steps.
type inline struct {
	attempt string
	created int64
	// posting lets one request be under way at a time. last is the step that the delivery has seen or recorded last.
	posting sync.Mutex
	last    int

	mu    sync.Mutex
	waits []outcome   // results that are not sent yet
	open  int         // how many are not recorded yet: those that wait, and those on their way
	timer *time.Timer // sends what waits; nil if nothing does
	// failed is the error of the first request that did not succeed: nothing is recorded after it.
	failed error
}

// outcome is the result of a step, with its JSON as it is submitted.
type outcome struct {
	id   int
	out  string
	body json.RawMessage
}

// errOtherAttempt says that another attempt has recorded a step before this one. What this one has seen does not count.
var errOtherAttempt = errors.New("workflow: another attempt has recorded the step")

// errMovedOn says that a step was recorded, and that another delivery continues the run.
var errMovedOn = errors.New("workflow: another delivery continues the run")

// readInline returns what a delivery asks for; last is the step at the end of its list.
func readInline(r *http.Request, last int) *inline {
	attempt := r.Header.Get(header + "Attempt")
	created, err := strconv.ParseInt(r.Header.Get(header+"CreatedAt"), 10, 64)
	if attempt == "" || err != nil {
		return nil
	}
	return &inline{attempt: attempt, created: created, last: last}
}

// keep keeps the result of a step, to be recorded before the next one or, with ahead, soon by itself.
func (d *delivery) keep(s step) error {
	body, err := marshal(s)
	if err != nil {
		return err
	}
	o := outcome{id: s.ID, body: body}
	if s.Out != nil {
		o.out = *s.Out
	}
	in := d.inline
	in.mu.Lock()
	defer in.mu.Unlock()
	in.waits = append(in.waits, o)
	in.open++
	if d.ahead > 0 && in.timer == nil {
		in.timer = time.AfterFunc(linger, func() { _ = d.recordNow(nil) }) // kept in failed
	}
	return nil
}

// full reports whether the function is to wait until all its results are recorded, or to learn why they can't be.
func (in *inline) full(ahead int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.open > ahead || in.failed != nil
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

// sent notes the end of a request with n results.
func (in *inline) sent(n int, failed error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.open -= n
	in.failed = failed
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
func (d *delivery) recordNow(end *ending) error {
	d.inline.posting.Lock()
	defer d.inline.posting.Unlock()
	list, err := d.inline.take()
	for err == nil && (len(list) > 0 || end != nil) {
		n, last := fitting(list), end
		if n < len(list) {
			last = nil
		}
		err = d.postSteps(list[:n], last)
		d.inline.sent(n, err)
		if list = list[n:]; last != nil {
			break
		}
	}
	return err
}

func (d *delivery) postSteps(list []outcome, end *ending) error {
	in := struct {
		Attempt string            `json:"attempt"`
		Created int64             `json:"workflowCreatedAt"`
		Steps   []json.RawMessage `json:"steps,omitempty"`
		Last    int               `json:"lastStepId"`
		End     *ending           `json:"end,omitempty"`
	}{Attempt: d.inline.attempt, Created: d.inline.created, Last: d.inline.last, End: end}
	for _, o := range list {
		in.Steps = append(in.Steps, o.body)
		d.inline.last = o.id
	}
	var out struct{ Inline, Deduplicated, Ended bool }
	if err := d.submit(d.ctx, "/v2/workflows/runs/"+d.runID+"/steps", jsonType, in, &out); err != nil {
		return err
	}
	switch {
	case out.Deduplicated && !out.Inline, end != nil && !out.Ended:
		return errOtherAttempt
	case !out.Inline:
		return errMovedOn
	}
	for _, o := range list {
		if d.OnResult != nil {
			d.OnResult(d.runID, o.id, o.out)
		}
	}
	if end != nil && d.OnEnd != nil {
		d.OnEnd(d.runID)
	}
	return nil
}
