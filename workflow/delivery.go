package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// delivery is one attempt to continue a run.
type delivery struct {
	*conn
	ctx                 context.Context
	runID, url, created string
	context             *Context // of the function; branches have copies

	results map[int]step
	plans   map[int]step // by their targets
	last    int          // the target of the plan that the list ends with, 0 if it ends with a result
	at      int          // steps that the function has come to

	// inline is nil if this delivery records one step.
	inline *inline
	ahead  int

	// What follows belongs to the goroutine that runs: the scheduler's or that of the current branch.
	current *branch
	idle    chan struct{} // a branch has parked or ended
	live    []*branch     // without those that have returned
	ready   []*branch
	blocked []*branch // at a step
	inStep  bool
	over    bool
	err     error
}

// element is an element of the list that a delivery carries.
type element struct {
	MessageID string `json:"messageId"`
	Body      []byte `json:"body"`
	CallType  string `json:"callType"`
}

// newDelivery reads what a request delivers.
func (h *handler) newDelivery(r *http.Request, run, url string, body []byte) (*delivery, error) {
	d := &delivery{
		conn: &h.conn, ctx: withTrace(r), runID: run, url: url, created: r.Header.Get(header + "CreatedAt"),
		results: map[int]step{}, plans: map[int]step{}, idle: make(chan struct{}),
	}
	list, err := h.list(r, run, body)
	if err != nil {
		return nil, err
	}
	latest := 0
	for _, e := range list[1:] {
		if e.CallType != "step" {
			continue
		}
		var s step
		if err := json.Unmarshal(e.Body, &s); err != nil {
			return nil, fmt.Errorf("workflow: a step of the log: %w", err)
		}
		d.take(s)
		latest = s.ID
	}
	d.context = d.newContext(r, list[0].Body)
	if d.last == 0 { // a planned step is done by itself
		d.inline = readInline(r, latest)
	}
	return d, nil
}

// list returns the log up to the entry that is delivered.
func (h *handler) list(r *http.Request, run string, body []byte) (list []element, err error) {
	if len(body) == 0 {
		list, err = h.fetch(r, run)
	} else {
		err = json.Unmarshal(body, &list)
	}
	if err == nil && len(list) == 0 {
		err = errors.New("workflow: a delivery without elements")
	}
	return list, err
}

// fetch asks for the log and cuts it after the entry that is delivered.
func (h *handler) fetch(r *http.Request, run string) ([]element, error) {
	var list []element
	err := h.ask(r.Context(), http.MethodGet, "/v2/workflows/runs/"+run, nil, nil, &list)
	switch {
	case status(err) == http.StatusNotFound:
		return nil, errOver
	case err != nil:
		return nil, err
	case len(list) == 1:
		return list, nil
	}
	id := r.Header.Get("Upstash-Message-Id")
	for i, e := range slices.Backward(list) { // a message that has recorded several steps has several elements
		if e.MessageID == id {
			return list[:i+1], nil
		}
	}
	return nil, fmt.Errorf("workflow: the log holds no message %s", id)
}

// status returns the status of an APIError, 0 if it is none.
func status(err error) int {
	if e, is := errors.AsType[*APIError](err); is {
		return e.Status
	}
	return 0
}

func (d *delivery) take(s step) {
	d.last = s.Target
	if s.Target > 0 {
		d.plans[s.Target] = s
		return
	}
	d.results[s.ID] = s
	if d.OnResult != nil {
		out := ""
		if s.Out != nil {
			out = *s.Out
		}
		d.OnResult(d.runID, s.ID, out)
	}
}

// replay runs the workflow until it comes to something new, and ends the run with what it returns.
func (d *delivery) replay(w Definition) error {
	var result []byte
	returned := false
	d.schedule(func(*Context) {
		c := d.current.c
		out, err := w.run(c)
		if err != nil {
			d.stop(err)
			return
		}
		result, returned = out, true
	})
	if returned && d.err == nil {
		return d.settled(d.end(result))
	}
	err := d.err
	if d.inline != nil {
		if failed := d.recordNow(nil); failed != nil && !errors.Is(err, failed) {
			err = errors.Join(err, failed)
		}
	}
	return d.settled(err)
}

// settled returns the error of an attempt: none if another delivery continues the run.
func (d *delivery) settled(err error) error {
	if errors.Is(err, errMovedOn) {
		return nil
	}
	return err
}

// end ends the run.
func (d *delivery) end(result []byte) error {
	if d.inline != nil {
		end := &ending{}
		if result != nil {
			end.Result = text(string(result))
		}
		return d.recordNow(end)
	}
	var body any
	if result != nil {
		body = result
	}
	err := d.ask(d.ctx, http.MethodDelete, "/v2/workflows/runs/"+d.runID+"?cancel=false", map[string]string{"content-type": "text/plain"}, body, nil)
	if err == nil && d.OnEnd != nil {
		d.OnEnd(d.runID)
	}
	return err
}
