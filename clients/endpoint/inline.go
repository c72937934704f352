package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// A run that was triggered with the header Svc-Inline goes through its steps by one delivery: each result is recorded before the next step
// begins, and the last one together with the end of the run.

// inline is the state of a delivery that records several steps.
type inline struct {
	attempt string
	created int64
	// waits is the result that is not recorded yet, nil if there is none. last is the step that the delivery has seen or recorded last.
	waits json.RawMessage
	out   string
	last  int
}

// errOtherAttempt says that another attempt has recorded a step before this one. What this one has seen counts for nothing.
var errOtherAttempt = errors.New("endpoint: another attempt has recorded the step")

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

// doInline does a step and keeps its result, to be recorded before the next.
func (c *Context) doInline(l Lazy) string {
	c.record(false, nil)
	out, err := json.Marshal(l.run())
	if err != nil {
		panic(err)
	}
	l.Out = text(string(out))
	body, err := json.Marshal(l.step)
	if err != nil {
		panic(err)
	}
	c.inline.waits, c.inline.out, c.inline.last = body, string(out), l.ID
	return string(out)
}

// record records the result that waits, and the end of the run, if there is one of both. It abandons the function if another delivery continues the run.
func (c *Context) record(end bool, result []byte) {
	if c.inline == nil || c.inline.waits == nil && !end {
		return
	}
	if err := c.recordNow(end, result); err != nil {
		panic(abandoned{err})
	}
}

func (c *Context) recordNow(end bool, result []byte) error {
	type ending struct {
		Result *string `json:"result,omitempty"`
	}
	in := struct {
		Attempt string          `json:"attempt"`
		Created int64           `json:"workflowCreatedAt"`
		Step    json.RawMessage `json:"step,omitempty"`
		Last    int             `json:"lastStepId"`
		End     *ending         `json:"end,omitempty"`
	}{Attempt: c.inline.attempt, Created: c.inline.created, Step: c.inline.waits, Last: c.inline.last}
	if end {
		in.End = &ending{}
		if result != nil {
			in.End.Result = text(string(result))
		}
	}
	recorded := c.inline.waits != nil
	c.inline.waits = nil
	answer, err := c.post(c.Request.Context(), "/v2/workflows/runs/"+c.RunID+"/steps", map[string]string{"content-type": "application/json"}, in)
	if err != nil {
		return err
	}
	var out struct{ Inline, Deduplicated, Ended bool }
	switch err := json.Unmarshal(answer, &out); {
	case err != nil:
		return fmt.Errorf("the answer to a step: %w", err)
	case out.Deduplicated && !out.Inline, end && !out.Ended:
		return errOtherAttempt
	case !out.Inline:
		return errMovedOn
	}
	if recorded && c.Seen != nil {
		c.Seen(c.RunID, c.inline.last, c.inline.out)
	}
	if end && c.Ended != nil {
		c.Ended(c.RunID)
	}
	return nil
}

// errMovedOn says that a step was recorded, and that another delivery continues the run.
var errMovedOn = errors.New("endpoint: another delivery continues the run")
