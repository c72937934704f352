package workflow

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
)

// step is the JSON of a step: its plan if it has a target, otherwise its result.
type step struct {
	ID          int     `json:"stepId"`
	Name        string  `json:"stepName"`
	Type        string  `json:"stepType"`
	Out         *string `json:"out,omitempty"`
	Concurrent  int     `json:"concurrent"`
	Target      int     `json:"targetStep,omitempty"`
	SleepFor    any     `json:"sleepFor,omitempty"` // text or a number of seconds
	SleepUntil  float64 `json:"sleepUntil,omitempty"`
	EventID     string  `json:"waitEventId,omitempty"`
	Timeout     string  `json:"timeout,omitempty"`
	WaitTimeout bool    `json:"waitTimeout,omitempty"`
}

// pending is a step that the function has come to.
type pending struct {
	step
	// run does the step and returns its result. Nil for a step whose result comes from elsewhere: submit asks for it.
	run    func(ctx context.Context) (*string, error)
	submit func(d *delivery, s step) error
	// headers delay the plan, or the result if the step is alone.
	headers map[string]string
}

// Run does a step: it calls fn and records what it returns. Once a result is recorded, Run returns it and does not call fn again. fn may be
// called more than once, if an attempt ends before its result is recorded. An error of fn fails the attempt, and the function of the workflow
// ends here: it continues in a later attempt.
//
// fn gets a context that ends with the request. It must not come to steps of its own.
func Run[T any](c *Context, name string, fn func(ctx context.Context) (T, error)) T {
	return result[T](c, &pending{step: step{Name: name, Type: "Run"}, run: func(ctx context.Context) (*string, error) {
		v, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		return outOf(v)
	}})
}

// result does a step and reads its result.
func result[T any](c *Context, p *pending) T {
	s := c.do(p)
	v, err := valueOf[T](s.Out)
	if err != nil {
		c.fail(incompatible(s.ID, "the recorded result of %q, %.100q, is no %T: %v", s.Name, *s.Out, v, err))
	}
	return v
}

// do does a step, or takes its result from what is recorded.
func (c *Context) do(p *pending) step {
	d, b := c.d, c.b
	c.enter()
	b.pending = p
	if d.alone() {
		d.settle([]*branch{b})
		d.ready = d.ready[:0]
	} else {
		d.blocked = append(d.blocked, b)
		b.park()
	}
	if d.over {
		runtime.Goexit()
	}
	if b.performs {
		b.performs = false
		return c.perform(p)
	}
	return b.recorded
}

// perform does a step that has no result: it returns if this delivery continues after it.
func (c *Context) perform(p *pending) step {
	d := c.d
	if d.inline != nil && (p.run == nil || d.inline.full(d.ahead)) {
		c.check(d.recordNow(nil))
	}
	if p.run == nil {
		c.fail(p.submit(d, p.step))
	}
	s := p.step
	s.Out = c.call(p)
	if d.inline != nil {
		c.check(d.keep(s))
		return s
	}
	c.fail(d.submitResult(s, p.headers))
	return s
}

// call calls the function of a step.
func (c *Context) call(p *pending) *string {
	d := c.d
	d.inStep = true
	defer func() { d.inStep = false }()
	out, err := p.run(d.ctx)
	if err != nil {
		c.fail(&stepError{p.Name, err})
	}
	return out
}

// enter ends the goroutine if the attempt is over, and refuses a step where none can be.
func (c *Context) enter() {
	switch d := c.d; {
	case d.over:
		runtime.Goexit()
	case d.inStep:
		c.fail(NonRetryable(fmt.Errorf("workflow: a step within the function of a step: call it after that one")))
	case d.current != c.b:
		c.fail(NonRetryable(fmt.Errorf("workflow: a step of another branch: use the Context that the function of Go is called with, on its goroutine")))
	}
}

// check ends the attempt if there is an error.
func (c *Context) check(err error) {
	if err != nil {
		c.fail(err)
	}
}

// fail ends the attempt with an error, or without one if it has done what it had to. It ends the goroutine: functions that the user has
// deferred are called, and nothing can recover it.
func (c *Context) fail(err error) {
	c.d.stop(err)
	runtime.Goexit()
}

// submitResult submits the result of a step.
func (d *delivery) submitResult(s step, headers map[string]string) error {
	body, err := marshal(s)
	if err != nil {
		return err
	}
	h := d.headers()
	for name, value := range headers {
		h[name] = value
	}
	return d.batch(d.ctx, item{d.url, h, string(body)})
}

// headers returns the headers of a message of the run.
func (d *delivery) headers() map[string]string { return messageHeaders(d.runID, d.url, d.created) }

// messageHeaders returns the headers of a message of a run. Created tells apart runs of one id.
func messageHeaders(run, url, created string) map[string]string {
	h := map[string]string{
		"content-type": "application/json", "upstash-method": http.MethodPost, "upstash-workflow-init": "false", "upstash-workflow-runid": run,
		"upstash-workflow-url": url, "upstash-workflow-sdk-version": protocolVersion, "upstash-feature-set": features,
		"upstash-forward-upstash-workflow-sdk-version": protocolVersion,
	}
	if created != "" {
		h["upstash-workflow-createdat"] = created
	}
	return h
}

// lists returns headers as JSON bodies have them.
func lists(h map[string]string) map[string][]string {
	all := map[string][]string{}
	for name, value := range h {
		all[name] = []string{value}
	}
	return all
}
